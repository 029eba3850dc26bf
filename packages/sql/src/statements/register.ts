import { type Connection, toQueryable } from '../connection.js'
import { PgTasksSqlError } from '../errors.js'

/** Settings of a task type; see docs/reference/sql.md. Intervals in PostgreSQL's words: `'1 minute'`. */
export interface RegisterOptions {
  /** Length of the lease; null: tasks of a dead worker never come back. @defaultValue '1 minute' */
  readonly timeout?: string | null | undefined
  /** Executions after the first; null: without end. @defaultValue 20 */
  readonly maxRetries?: number | null | undefined
  /** How long ended tasks are kept; '0': deleted at finish; null: for ever. @defaultValue null */
  readonly storageTime?: string | null | undefined
  /** Whether enqueueing notifies. @defaultValue true */
  readonly notify?: boolean | undefined
  /** What stands behind the verb in the names of the type's functions. @defaultValue schema_table */
  readonly functionName?: string | undefined
  /** Wait before the first retry. @defaultValue '1 s' */
  readonly backoffBase?: string | undefined
  /** Longest wait before a retry. @defaultValue '1 hour' */
  readonly backoffMax?: string | undefined
  /** Longest run of a handler; null: no limit. @defaultValue null */
  readonly runLimit?: string | null | undefined
}

const ARGUMENTS: ReadonlyArray<readonly [keyof RegisterOptions, string]> = [
  ['timeout', 'timeout => $::interval'],
  ['maxRetries', 'max_retries => $::integer'],
  ['storageTime', 'storage_time => $::interval'],
  ['notify', 'notify => $::boolean'],
  ['functionName', 'function_name => $::text'],
  ['backoffBase', 'backoff_base => $::interval'],
  ['backoffMax', 'backoff_max => $::interval'],
  ['runLimit', 'run_limit => $::interval'],
]

/**
 * Makes a table a task type, or brings its settings up to date; what is not given gets its default. Idempotent.
 *
 * @throws {@link PgTasksSqlError} `INVALID_ARGUMENT` for an unknown option, or what is no connection
 */
export async function register(
  connection: Connection,
  schema: string,
  table: string,
  options: RegisterOptions = {},
): Promise<void> {
  const known: readonly string[] = ARGUMENTS.map(([option]) => option)
  const unknown = Object.keys(options).find((option) => !known.includes(option))
  if (unknown !== undefined) {
    const there = `${known.slice(0, -1).join(', ')} and ${known.at(-1)}`
    throw new PgTasksSqlError('INVALID_ARGUMENT', `register: option ${unknown} is unknown: there are ${there}.`)
  }
  const values: unknown[] = [schema, table]
  const named = ARGUMENTS.filter(([option]) => options[option] !== undefined).map(([option, argument]) => {
    values.push(options[option])
    return argument.replace('$', `$${values.length}`)
  })
  await toQueryable(connection).query(`select tasks.register(${['$1::text', '$2::text', ...named].join(', ')})`, values)
}
