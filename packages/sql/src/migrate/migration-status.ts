import { type Connection, toQueryable } from '../connection.js'
import { type AppliedMigration, readAppliedMigrations } from './applied-migrations.js'
import { type MigrateOptions, resolveMigrateOptions } from './migrate-options.js'
import { titleOf } from './migration.js'
import type { MigrationError } from './migration-error.js'
import { planMigrations } from './plan-migrations.js'
import { readMigrations } from './read-migrations.js'

/** How a database stands to this version. */
export interface MigrationStatus {
  /**
   * `missing`: nothing is applied; `behind`: something is to be applied; `current`: this version can work with it, be the
   * database newer or not; `incompatible`: it must not, see `problem`.
   */
  readonly state: 'missing' | 'behind' | 'current' | 'incompatible'
  readonly applied: readonly AppliedMigration[]
  /** What {@link migrate} would apply, in order. */
  readonly pending: readonly string[]
  /** Applied by a later version. */
  readonly unknown: readonly string[]
  /** What {@link migrate} would throw instead of doing anything. */
  readonly problem: MigrationError | undefined
}

/** Tells which migrations a database has and lacks. Reads only: SELECT on `tasks.migrations` suffices. */
export async function migrationStatus(
  connection: Connection,
  options: Omit<MigrateOptions, 'dryRun'> = {},
): Promise<MigrationStatus> {
  const { folder } = resolveMigrateOptions(options)
  const applied = await readAppliedMigrations(toQueryable(connection))
  const plan = planMigrations(await readMigrations(folder), applied)
  return {
    state: stateOf(applied.length, plan),
    applied,
    pending: plan.pending.map(titleOf),
    unknown: plan.unknown.map(titleOf),
    problem: plan.problem,
  }
}

function stateOf(applied: number, plan: ReturnType<typeof planMigrations>): MigrationStatus['state'] {
  if (plan.problem !== undefined) return 'incompatible'
  if (plan.pending.length === 0) return 'current'
  return applied === 0 ? 'missing' : 'behind'
}
