import { type Connection, type Queryable, toQueryable } from '../connection.js'
import { mayCompleteRecord, readAppliedMigrations, recordChecksum } from './applied-migrations.js'
import { type MigrateOptions, resolveMigrateOptions } from './migrate-options.js'
import { type Migration, titleOf } from './migration.js'
import { MigrationError } from './migration-error.js'
import { planMigrations } from './plan-migrations.js'
import { readMigrations } from './read-migrations.js'

/** What {@link migrate} did; migrations are named as their files, without the ending. */
export interface MigrateResult {
  /** Applied by this call; with `dryRun`, what it would apply. */
  readonly applied: readonly string[]
  /** Applied before, or by somebody else meanwhile. */
  readonly alreadyApplied: readonly string[]
}

/**
 * Brings the database's `tasks` schema up to this version.
 *
 * Each migration is one transaction; any number of processes may call this at once. In a transaction of the caller's, all of
 * it becomes part of that transaction. When nothing is to do, nothing is written and SELECT on `tasks.migrations` suffices.
 *
 * @throws {@link MigrationError} `DATABASE_NEWER` if a later version has shut this one out, `MIGRATION_CHANGED` if an applied
 * migration differs from its file, `MIGRATION_FAILED` if one can't be applied: those before it stay
 *
 * @example
 * const { applied } = await migrate(pool)
 */
export async function migrate(connection: Connection, options: MigrateOptions = {}): Promise<MigrateResult> {
  const { dryRun, folder } = resolveMigrateOptions(options)
  const database = toQueryable(connection)
  const files = await readMigrations(folder)
  const applied: string[] = []
  for (;;) {
    const plan = planMigrations(files, await readAppliedMigrations(database))
    if (plan.problem !== undefined) throw plan.problem
    const [next] = plan.pending
    if (next === undefined || dryRun) {
      if (!dryRun) await completeRecord(database, plan.unverified)
      return {
        applied: dryRun ? plan.pending.map(titleOf) : applied,
        alreadyApplied: plan.alreadyApplied.map(titleOf).filter((title) => !applied.includes(title)),
      }
    }
    if (await apply(database, next)) applied.push(titleOf(next))
  }
}

/** Applies one migration; false if somebody else did so meanwhile. */
async function apply(database: Queryable, migration: Migration): Promise<boolean> {
  try {
    // Several statements in one simple query are one transaction, or part of the caller's: an error leaves nothing open,
    // so that a pool may run this on any of its connections.
    await database.query(
      `${migration.body}\nupdate tasks.migrations set checksum = '${migration.checksum}' where number = ${migration.number};`,
    )
    return true
  } catch (error) {
    if (await isApplied(database, migration)) return false
    throw failed(migration, error)
  }
}

/** Whatever the race looked like (already applied, duplicate object, serialization failure): the record decides. */
async function isApplied(database: Queryable, migration: Migration): Promise<boolean> {
  try {
    const record = await readAppliedMigrations(database)
    return record.some((applied) => applied.number === migration.number)
  } catch {
    return false // the connection is gone or the caller's transaction aborted: the first error tells more
  }
}

function failed(migration: Migration, cause: unknown): unknown {
  const { code, message, hint, position } = cause as {
    code?: unknown
    message?: string
    hint?: string
    position?: string
  }
  // Not an answer of the database's about the migration: a lost connection, a shutdown.
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code) || /^(08|57)/.test(code)) return cause
  const advice = code === '42501' ? ' Migrations are applied by the role that owns the schema tasks.' : ''
  const line = position ? ` (line ${migration.body.slice(0, Number(position)).split('\n').length})` : ''
  return new MigrationError(
    'MIGRATION_FAILED',
    titleOf(migration),
    `The migration ${titleOf(migration)} could not be applied${line}: ${message}.${advice}${hint ? ` ${hint}` : ''}`,
    { cause },
  )
}

async function completeRecord(database: Queryable, unverified: readonly Migration[]): Promise<void> {
  if (unverified.length === 0 || !(await mayCompleteRecord(database))) return
  for (const { number, checksum } of unverified) await recordChecksum(database, number, checksum)
}
