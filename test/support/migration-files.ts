import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface MigrationFile {
  readonly name: string
  readonly sql: string
}

const MIGRATIONS_FOLDER = join(import.meta.dirname, '..', '..', 'migrations')

/** All migrations, in order. */
export function migrationFiles(): readonly MigrationFile[] {
  return readdirSync(MIGRATIONS_FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({ name, sql: readFileSync(join(MIGRATIONS_FOLDER, name), 'utf8') }))
}

/** Names a template database, so that a server which outlives a run never gives out yesterday's schema. */
export function migrationsFingerprint(): string {
  const hash = createHash('sha256')
  for (const { name, sql } of migrationFiles()) hash.update(name).update(sql)
  return hash.digest('hex').slice(0, 12)
}
