import type { AppliedMigration } from './applied-migrations.js'
import { type Migration, titleOf } from './migration.js'
import { MigrationError } from './migration-error.js'

/** What there is to do, seen from the files of this version and the record of a database. */
export interface MigrationPlan {
  /** To apply, in order. */
  readonly pending: readonly Migration[]
  /** Applied and as this version knows them. */
  readonly alreadyApplied: readonly Migration[]
  /** Of these, the ones whose checksum isn't recorded yet. */
  readonly unverified: readonly Migration[]
  /** Applied by a later version. */
  readonly unknown: readonly AppliedMigration[]
  /** Why this version must leave the database alone; undefined if it needn't. */
  readonly problem: MigrationError | undefined
}

/** Compares the files with the record. Pure: reads and changes nothing. */
export function planMigrations(files: readonly Migration[], record: readonly AppliedMigration[]): MigrationPlan {
  const recorded = new Map(record.map((applied) => [applied.number, applied]))
  const known = new Set(files.map((file) => file.number))
  const alreadyApplied = files.filter((file) => recorded.has(file.number))
  const unknown = record.filter((applied) => !known.has(applied.number))
  return {
    pending: files.filter((file) => !recorded.has(file.number)),
    alreadyApplied,
    unverified: alreadyApplied.filter((file) => recorded.get(file.number)?.checksum === null),
    unknown,
    problem: newer(unknown) ?? changed(files, recorded),
  }
}

function newer(unknown: readonly AppliedMigration[]): MigrationError | undefined {
  const breaking = unknown.find((applied) => applied.breaking)
  if (breaking === undefined) return undefined
  const title = titleOf(breaking)
  return new MigrationError(
    'DATABASE_NEWER',
    title,
    `The database has the migration ${title}, which this version of pg-tasks does not know and must not work with: upgrade pg-tasks.`,
  )
}

function changed(
  files: readonly Migration[],
  recorded: ReadonlyMap<number, AppliedMigration>,
): MigrationError | undefined {
  for (const file of files) {
    const applied = recorded.get(file.number)
    if (applied === undefined) continue
    const title = titleOf(file)
    if (applied.name !== file.name) {
      return new MigrationError(
        'MIGRATION_CHANGED',
        title,
        `The database has applied ${titleOf(applied)} where this version has ${title}: a released migration never changes. Use the version that made the database, or restore its files.`,
      )
    }
    if (applied.checksum !== null && applied.checksum !== file.checksum) {
      return new MigrationError(
        'MIGRATION_CHANGED',
        title,
        `The migration ${title} is not the one that the database has applied (checksum ${file.checksum.slice(0, 12)}…, applied was ${applied.checksum.slice(0, 12)}…): a released migration never changes. Restore the file, or put what it should do into a new one.`,
      )
    }
  }
  return undefined
}
