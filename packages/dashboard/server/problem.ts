import { fromDatabaseError, isTransient, PgTasksError } from '@pg-tasks/client'
import { PgTasksSqlError } from '@pg-tasks/sql'
import type { ContentfulStatusCode } from 'hono/utils/http-status'

/** What a request that can't be answered gets. */
export interface Problem {
  /** Stable; the page has words for it in its language. */
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
  /** The column that it is about. */
  readonly column?: string | undefined
}

/** A refusal of the dashboard's own. */
export class DashboardRefusal extends Error {
  override readonly name = 'DashboardRefusal'
  readonly status: ContentfulStatusCode
  readonly code: string

  constructor(status: ContentfulStatusCode, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

interface DatabaseError {
  readonly code?: unknown
  readonly message?: unknown
  readonly column?: unknown
  readonly severity?: unknown
}

const BY_SQLSTATE: Readonly<Record<string, readonly [ContentfulStatusCode, string, string]>> = {
  '55P03': [409, 'ROW_HELD', 'An open transaction holds this row. Nothing was changed; try again when it has ended.'],
  '57014': [503, 'TOO_SLOW', 'The database took too long. Narrow the filter, or look at one state.'],
  '25006': [403, 'READ_ONLY', 'The database is read only.'],
  '42P01': [503, 'NOT_MIGRATED', 'The schema tasks is missing or older than this dashboard: apply the migrations.'],
  '42883': [503, 'NOT_MIGRATED', 'The schema tasks is missing or older than this dashboard: apply the migrations.'],
  '3F000': [503, 'NOT_MIGRATED', 'The schema tasks is missing: apply the migrations.'],
}

/** Status and problem of anything that was thrown; undefined where it is a fault of ours, to be logged and not shown. */
export function problemOf(thrown: unknown): { status: ContentfulStatusCode; problem: Problem } | undefined {
  if (thrown instanceof DashboardRefusal) {
    return { status: thrown.status, problem: { code: thrown.code, message: thrown.message } }
  }
  const error = fromDatabaseError(thrown)
  if (error instanceof PgTasksError) {
    return { status: statusOf(error.code), problem: { code: error.code, message: error.message, hint: error.hint } }
  }
  if (error instanceof PgTasksSqlError) return { status: 400, problem: { code: error.code, message: error.message } }
  return ofDatabase(error as DatabaseError)
}

function statusOf(code: string): ContentfulStatusCode {
  if (code.endsWith('NOT_FOUND') || code === 'TYPE_NOT_REGISTERED') return 404
  if (code === 'CHANGED_MEANWHILE' || code.endsWith('IN_USE') || code === 'TASK_NOT_RUNNING') return 409
  return 422
}

function ofDatabase(error: DatabaseError): { status: ContentfulStatusCode; problem: Problem } | undefined {
  const code = typeof error.code === 'string' ? error.code : ''
  const known = BY_SQLSTATE[code]
  if (known !== undefined) return { status: known[0], problem: { code: known[1], message: known[2] } }
  const message = String(error.message)
  const column = typeof error.column === 'string' ? error.column : undefined
  // Never the detail: it holds whole rows, masked columns among them.
  if (error.severity !== undefined && code === '42501')
    return { status: 403, problem: { code: 'NOT_ALLOWED', message } }
  if (error.severity !== undefined && /^(22|23|P0001$)/.test(code)) {
    return { status: 422, problem: { code: 'REFUSED_BY_DATABASE', message, column } }
  }
  // Drivers say a lost connection and a pool that is used up in words only.
  const away = code === '' ? isTransient(error) : /^(08|57P|53)/.test(code)
  if (away || /^(ECONN|ETIMEDOUT|ENOTFOUND|EHOST|EPIPE)/.test(code)) {
    return { status: 503, problem: { code: 'DATABASE_AWAY', message: 'The database can’t be reached.' } }
  }
  return undefined
}
