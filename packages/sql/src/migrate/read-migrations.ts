import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PgTasksSqlError } from '../errors.js'
import { type Migration, parseMigration, titleOf } from './migration.js'

/** Where the files are: beside the published code, else at the root of the repository. In a bundle, nowhere. */
function folders(): string[] {
  // A bundle in CommonJS has no import.meta.
  const here = import.meta.dirname as string | undefined
  return here === undefined ? [] : [join(here, '..', 'migrations'), join(here, '..', '..', '..', '..', 'migrations')]
}

/**
 * Reads all migrations of a folder in the order of their numbers.
 *
 * @param folder - where they are; by default the ones of this package
 * @throws PgTasksSqlError `INVALID_ARGUMENT` if they aren't there; Error if a number is missing or there twice
 */
export async function readMigrations(folder: string = migrationsFolder()): Promise<readonly Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  const migrations = await Promise.all(
    names.map(async (name) => parseMigration(name, await readFile(join(folder, name), 'utf8'))),
  )
  for (const [index, migration] of migrations.entries()) {
    if (migration.number !== index + 1) throw new Error(`${titleOf(migration)}: migrations are numbered 1, 2, 3 …`)
  }
  return migrations
}

function migrationsFolder(): string {
  const folder = folders().find((candidate) => existsSync(join(candidate, '0001_create_schema.sql')))
  if (folder !== undefined) return folder
  throw new PgTasksSqlError(
    'INVALID_ARGUMENT',
    'migrate: the migrations are not beside the code. If it was bundled, leave @pg-tasks/sql out of the bundle, or give their folder as option folder.',
  )
}
