import { PgTasksSqlError } from '../errors.js'

/** How {@link migrate} and {@link migrationStatus} work. */
export interface MigrateOptions {
  /**
   * Only tell what would be applied.
   *
   * @defaultValue false
   */
  readonly dryRun?: boolean
  /**
   * The folder with the migration files.
   *
   * @defaultValue the one that came with this package
   */
  readonly folder?: string
}

export interface ResolvedMigrateOptions {
  readonly dryRun: boolean
  readonly folder: string | undefined
}

const KNOWN: readonly string[] = ['dryRun', 'folder']

export function resolveMigrateOptions(options: MigrateOptions): ResolvedMigrateOptions {
  const unknown = Object.keys(options).find((option) => !KNOWN.includes(option))
  if (unknown !== undefined) throw invalid(`option ${unknown} is unknown: there are ${KNOWN.join(' and ')}.`)
  const { dryRun = false, folder } = options
  if (typeof dryRun !== 'boolean') throw invalid('option dryRun must be true or false.')
  if (folder !== undefined && typeof folder !== 'string') throw invalid('option folder must be a path.')
  return Object.freeze({ dryRun, folder })
}

function invalid(problem: string): PgTasksSqlError {
  return new PgTasksSqlError('INVALID_ARGUMENT', `migrate: ${problem}`)
}
