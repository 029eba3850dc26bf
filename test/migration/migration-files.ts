import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'

export interface MigrationFile {
  readonly name: string
  /** As it is recorded: the name without its ending. */
  readonly title: string
  readonly sql: string
}

export const MIGRATIONS_FOLDER = join(import.meta.dirname, '..', '..', 'migrations')

/** All migrations, in order. */
export const MIGRATIONS: readonly MigrationFile[] = readdirSync(MIGRATIONS_FOLDER)
  .filter((name) => name.endsWith('.sql'))
  .sort()
  .map((name) => ({
    name,
    title: name.replace('.sql', ''),
    sql: readFileSync(join(MIGRATIONS_FOLDER, name), 'utf8'),
  }))

/** Applies files as `psql -v ON_ERROR_STOP=1 -f` does. */
export async function applyAsPsql(url: string, files: readonly MigrationFile[] = MIGRATIONS): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    for (const { sql } of files) await client.query(sql)
  } finally {
    await client.end()
  }
}
