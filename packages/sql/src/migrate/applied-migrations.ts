import type { Queryable } from '../connection.js'
import { MigrationError } from './migration-error.js'

/** A migration as the database has recorded it. */
export interface AppliedMigration {
  readonly number: number
  readonly name: string
  /** NULL if it was applied by `psql -f` and not looked at by migrate() since. */
  readonly checksum: string | null
  /** Whether clients that don't know it must stay away. */
  readonly breaking: boolean
  readonly appliedAt: Date
}

/** What the database has recorded, in order; empty if nothing was ever applied. Needs no more than SELECT. */
export async function readAppliedMigrations(connection: Queryable): Promise<readonly AppliedMigration[]> {
  const found = await connection.query(`select pg_catalog.to_regclass('tasks.migrations') is not null as found`)
  if (!(found.rows[0] as { found: boolean }).found) return []
  try {
    const { rows } = await connection.query(
      `select number, name, checksum, breaking, 1000 * pg_catalog.date_part('epoch', applied_at) as applied_at
       from tasks.migrations order by number`,
    )
    return rows.map((row) => ({
      number: Number(row.number),
      name: row.name,
      checksum: row.checksum,
      breaking: row.breaking,
      appliedAt: new Date(Number(row.applied_at)),
    }))
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== UNDEFINED_COLUMN) throw cause
    throw new MigrationError(
      'MIGRATION_FAILED',
      '0001_create_schema',
      'There is a table tasks.migrations that is not ours: the schema tasks belongs to pg-tasks, rename it or the table.',
      { cause },
    )
  }
}

const UNDEFINED_COLUMN = '42703'

/** Whether this role may complete the record where psql left the checksum out. */
export async function mayCompleteRecord(connection: Queryable): Promise<boolean> {
  const { rows } = await connection.query(
    `select pg_catalog.has_table_privilege('tasks.migrations', 'update') and not pg_catalog.pg_is_in_recovery() as may`,
  )
  return (rows[0] as { may: boolean }).may
}

/** Records the checksum of a migration that psql has applied. */
export async function recordChecksum(connection: Queryable, number: number, checksum: string): Promise<void> {
  await connection.query(
    'update tasks.migrations set checksum = $2::text where number = $1::integer and checksum is null',
    [number, checksum],
  )
}
