import type { Connection } from '@pg-tasks/sql'
import { Kysely, PostgresDialect } from 'kysely'
import { Pool } from 'pg'
import type { TestDatabase } from '../../support/test-database.js'

/** One kind of connection that a caller may have. */
export interface ConnectionKind {
  readonly name: string
  /** Opens one for the time of the work. */
  readonly use: (database: TestDatabase, work: (connection: Connection) => Promise<void>) => Promise<void>
}

/** Pools of one connection: a call that needed a second one would wait for ever. */
async function withPool(database: TestDatabase, work: (pool: Pool) => Promise<void>): Promise<void> {
  const pool = new Pool({ connectionString: database.url, max: 1 })
  pool.on('error', () => {})
  try {
    await work(pool)
  } finally {
    await pool.end()
  }
}

async function withKysely(database: TestDatabase, work: (kysely: Kysely<object>) => Promise<void>): Promise<void> {
  await withPool(database, (pool) => work(new Kysely<object>({ dialect: new PostgresDialect({ pool }) })))
}

export const CONNECTIONS: readonly ConnectionKind[] = [
  {
    name: 'a Client',
    use: async (database, work) => {
      const client = await database.client()
      await work(client)
    },
  },
  { name: 'a Pool', use: withPool },
  {
    name: 'a PoolClient',
    use: (database, work) =>
      withPool(database, async (pool) => {
        const client = await pool.connect()
        try {
          await work(client)
        } finally {
          client.release()
        }
      }),
  },
  { name: 'a Kysely', use: withKysely },
  {
    name: 'a Kysely Transaction',
    use: (database, work) => withKysely(database, (kysely) => kysely.transaction().execute(work)),
  },
  {
    name: 'an object with query(text, values)',
    use: (database, work) => work({ query: (text, values) => database.pool.query(text, values && [...values]) }),
  },
]
