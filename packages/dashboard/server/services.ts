import type { Context } from 'hono'
import type { Access } from './access.js'
import type { DashboardUser, ResolvedDashboardOptions } from './dashboard-options.js'
import type { Database, Stopwatch } from './database.js'
import type { Live } from './live.js'
import type { Overview } from './overview.js'
import { DashboardRefusal } from './problem.js'

/** What the routes work with. */
export interface Services {
  readonly options: ResolvedDashboardOptions
  readonly access: Access
  readonly database: Database
  readonly overview: Overview
  readonly live: Live
}

/** What goes with each request of the API. */
export interface DashboardEnv {
  Variables: { user: DashboardUser; stopwatch: Stopwatch }
}

export type DashboardContext = Context<DashboardEnv>

/** The body of a request as an object. */
export async function bodyOf(context: DashboardContext): Promise<Readonly<Record<string, unknown>>> {
  const body: unknown = await context.req.json().catch(() => undefined)
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw badRequest('The body must be a JSON object.')
  return body as Readonly<Record<string, unknown>>
}

/** Values of columns: text as PostgreSQL reads it, or null. */
export function textsOf(value: unknown): Record<string, string | null> {
  if (typeof value !== 'object' || value === null) throw badRequest('values must be an object.')
  for (const one of Object.values(value)) {
    if (one !== null && typeof one !== 'string') throw badRequest('values must be texts or null.')
  }
  return value as Record<string, string | null>
}

export function optionalText(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') throw badRequest(`${name} must be a text.`)
  return value
}

/** A whole number, or null. */
export function numberOrNull(value: unknown, name: string): number | null {
  if (value === null || value === undefined || value === '') return null
  if (typeof value !== 'number' || !Number.isFinite(value)) throw badRequest(`${name} must be a number.`)
  return value
}

export function badRequest(message: string): DashboardRefusal {
  return new DashboardRefusal(400, 'BAD_REQUEST', message)
}
