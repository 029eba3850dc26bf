import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start } from '@pg-tasks/embedded'
import { migrate } from '@pg-tasks/sql'
import { Pool } from 'pg'

/** An empty, migrated database for one example, and a pool for it. */
export interface ExampleDatabase {
  readonly connectionString: string
  readonly pool: Pool
}

/**
 * Runs an example on the database that `DATABASE_URL` names, which it may fill; without that, on a PostgreSQL of its own,
 * which is gone afterwards.
 */
export async function withDatabase(example: (database: ExampleDatabase) => Promise<void>): Promise<void> {
  const given = process.env.DATABASE_URL
  if (given !== undefined) return run(given, example)
  const folder = await mkdtemp(join(tmpdir(), 'pg-tasks-example-'))
  const server = await start(join(folder, 'postgres'))
  try {
    await run(server.url, example)
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function run(connectionString: string, example: (database: ExampleDatabase) => Promise<void>): Promise<void> {
  const pool = new Pool({ connectionString })
  try {
    await migrate(pool)
    await example({ connectionString, pool })
  } finally {
    await pool.end()
  }
}
