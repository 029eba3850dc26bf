import type { MigrationStatus } from '../../migrate/migration-status.js'
import type { Finding } from '../finding.js'

/** What the state of the schema means for this version of the code. */
export function migrationsFindings(status: MigrationStatus): readonly Finding[] {
  const { state, pending, unknown, problem } = status
  const details = { state, pending, unknown }
  switch (state) {
    case 'current':
      return []
    case 'missing':
      return [
        {
          code: 'schema_missing',
          severity: 'critical',
          subject: null,
          problem: 'The database has no schema of pg-tasks.',
          remedy: 'Apply the migrations: pg-tasks migrate, or migrate(connection).',
          details,
        },
      ]
    case 'incompatible':
      return [
        {
          code: problem?.code === 'MIGRATION_CHANGED' ? 'migration_changed' : 'database_newer',
          severity: 'critical',
          subject: null,
          problem: problem?.message ?? 'This version must not work with the database.',
          remedy: 'Use the version of pg-tasks that the database was migrated by, or a later one.',
          details: { ...details, migration: problem?.migration ?? '' },
        },
      ]
    case 'behind':
      return [
        {
          code: 'migrations_pending',
          // What the checks and the verbs of this version ask for may not be there yet.
          severity: 'critical',
          subject: null,
          problem: `The database lacks ${pending.length} migrations of this version: ${pending.join(', ')}.`,
          remedy: 'Apply them: pg-tasks migrate, or migrate(connection).',
          details,
        },
      ]
  }
}
