import { limitConcurrency, limitRate, pauseType, type Queryable, resumeType } from '@pg-tasks/sql'
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
    const apply = async (connection: Queryable): Promise<Record<string, unknown>> => {
      switch (setting) {
        case 'pause': {
          const reason = optionalText(body.reason, 'reason')
          await pauseType(connection, name, reason)
          return reason === undefined ? {} : { reason }
        }
        case 'resume':
          await resumeType(connection, name)
          return {}
        case 'concurrency': {
          const most = numberOrNull(body.most, 'most')
          await limitConcurrency(connection, name, most)
          return { most }
        }
        case 'rate': {
          const count = numberOrNull(body.count, 'count')
          const perMs = numberOrNull(body.perMs, 'perMs') ?? 1_000
          await limitRate(connection, name, count === null ? null : { count, perMs })
          return { count, perMs }
        }
        default:
          throw badRequest(`There is no setting ${setting}.`)
      }
    }
    const { details } = { details: { ...body } }
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
