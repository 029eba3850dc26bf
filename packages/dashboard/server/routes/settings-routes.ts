import {
  type KeyLimit,
  limitConcurrency,
  limitKeys,
  limitRate,
  pauseType,
  type Queryable,
  resumeType,
} from '@pg-tasks/sql'
import { Hono } from 'hono'
import { badRequest, bodyOf, type DashboardEnv, numberOrNull, optionalText, type Services } from '../services.js'
import { nameOf } from '../shown-type.js'

/** Pause and limits of a type. */
export function settingsRoutes({ database, live }: Services): Hono<DashboardEnv> {
  const routes = new Hono<DashboardEnv>()

  routes.post('/types/:schema/:table/settings/:setting', async (context) => {
    const { setting } = context.req.param()
    const name = nameOf(context)
    const body = await bodyOf(context)
    const { details, apply } = settingOf(setting, name, body)
    await database.act(
      context.get('user'),
      { action: setting, type: name, details },
      async (connection) => {
        await apply(connection)
        return { affected: 1, value: undefined }
      },
      context.get('stopwatch'),
    )
    live.changed()
    return context.json({})
  })
  return routes
}

/** A change of a setting: what is written down of it, and how it is done. */
interface Setting {
  readonly details: Readonly<Record<string, unknown>>
  readonly apply: (connection: Queryable) => Promise<void>
}

function settingOf(
  setting: string,
  name: { readonly schema: string; readonly table: string },
  body: Readonly<Record<string, unknown>>,
): Setting {
  switch (setting) {
    case 'pause': {
      const reason = optionalText(body.reason, 'reason')
      return {
        details: reason === undefined ? {} : { reason },
        apply: (connection) => pauseType(connection, name, reason),
      }
    }
    case 'resume':
      return { details: {}, apply: (connection) => resumeType(connection, name) }
    case 'concurrency': {
      const most = numberOrNull(body.most, 'most')
      return { details: { most }, apply: (connection) => limitConcurrency(connection, name, most) }
    }
    case 'rate': {
      const count = numberOrNull(body.count, 'count')
      const perMs = numberOrNull(body.perMs, 'perMs') ?? 1_000
      const burst = numberOrNull(body.burst, 'burst') ?? 1
      const rate = count === null ? null : { count, perMs, burst }
      return { details: rate ?? { count }, apply: (connection) => limitRate(connection, name, rate) }
    }
    case 'keys': {
      const columns = namesOrNull(body.columns, 'columns')
      const concurrency = numberOrNull(body.concurrency, 'concurrency') ?? 1
      const onRetry = body.onRetry ?? 'block'
      if (onRetry !== 'block' && onRetry !== 'step_aside') throw badRequest('onRetry must be block or step_aside.')
      const limit: KeyLimit | null = columns === null ? null : { columns, concurrency, onRetry }
      return { details: { columns, ...limit }, apply: (connection) => limitKeys(connection, name, limit) }
    }
    default:
      throw badRequest(`There is no setting ${setting}.`)
  }
}

/** Names of columns; null for none. */
function namesOrNull(value: unknown, name: string): readonly string[] | null {
  if (value === null || value === undefined) return null
  if (!Array.isArray(value) || value.some((one) => typeof one !== 'string')) throw badRequest(`${name} must be texts.`)
  return value.length === 0 ? null : value
}
