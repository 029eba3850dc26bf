import { join } from 'node:path'
import { Client } from 'pg'
import { type MigrationFile as File, migrationFiles } from '../support/migration-files.js'

export interface MigrationFile extends File {
  /** As it is recorded: the name without its ending. */
  readonly title: string
}

export const MIGRATIONS_FOLDER = join(import.meta.dirname, '..', '..', 'migrations')

/** All migrations, in order. */
export const MIGRATIONS: readonly MigrationFile[] = migrationFiles().map((file) => ({
  ...file,
  title: file.name.replace('.sql', ''),
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
