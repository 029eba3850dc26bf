import {
  browseTasks,
  type CheckResult,
  countRunning,
  countTasks,
  diagnose,
  insertExample,
  listAudit,
  listLeases,
  listSchedules,
  listWorkerSessions,
  newestDurations,
  type Queryable,
  readTask,
  type StoredSchedule,
  typeOverviews,
} from '@pg-tasks/sql'
import { Hono } from 'hono'
import { DashboardRefusal } from '../problem.js'
import { cursorOf, selectionOf } from '../selection-of.js'
import { badRequest, type DashboardEnv, type Services } from '../services.js'
import { shownFindings } from '../shown-findings.js'
import { nameOf, refuseUnusable, shownType } from '../shown-type.js'
import { RANGES } from '../type-figures.js'

const PAGE = 50

/** What only looks. */
export function lookRoutes(services: Services): Hono<DashboardEnv> {
  const { access, database, live, overview, options } = services
  const routes = new Hono<DashboardEnv>()

  routes.get('/session', (context) => {
    const user = context.get('user')
    return context.json({
      user: user.name,
      readOnly: options.readOnly || user.readOnly === true,
      csrfToken: access.csrfToken(user),
      signedIn: access.byToken,
    })
  })

  routes.get('/events', () => live.stream())

  routes.get('/overview', async (context) => context.json({ types: await overview.types(context.get('stopwatch')) }))

  routes.get('/types/:schema/:table', async (context) =>
    context.json(
      await database.look(async (connection) => {
        const { type, columns, hasKeys } = await shownType(services, connection, nameOf(context))
        const counts = type.mayRead ? await countTasks(connection, type, hasKeys) : null
        const durations = type.mayRead ? await newestDurations(connection, type, 500) : null
        return { type, columns, counts, durations, example: insertExample(type, columns) }
      }, context.get('stopwatch')),
    ),
  )

  routes.get('/types/:schema/:table/tasks', async (context) =>
    context.json(
      await database.look(async (connection) => {
        const { type, show, mask, usable, columns, hasKeys } = await shownType(services, connection, nameOf(context))
        const query = new URL(context.req.url).searchParams
        const selection = selectionOf(query)
        refuseUnusable(selection, usable)
        return browseTasks(connection, type, columns, {
          ...selection,
          hasKeys,
          show,
          mask,
          after: cursorOf(query),
          limit: PAGE,
        })
      }, context.get('stopwatch')),
    ),
  )

  routes.get('/types/:schema/:table/charts', async (context) => {
    const name = context.req.query('range') ?? '1h'
    if (!Object.hasOwn(RANGES, name)) throw badRequest(`range must be one of ${Object.keys(RANGES).join(', ')}.`)
    const range = RANGES[name as keyof typeof RANGES]
    return context.json(
      await database.look(async (connection) => {
        const { type } = await shownType(services, connection, nameOf(context))
        return overview.reader.chart(connection, type, range)
      }, context.get('stopwatch')),
    )
  })

  routes.get('/types/:schema/:table/tasks/:id', async (context) =>
    context.json(
      await database.look(async (connection) => {
        const { type, columns, show, mask } = await shownType(services, connection, nameOf(context))
        const id = context.req.param('id')
        const task = /^-?\d{1,19}$/.test(id) ? await readTask(connection, type, id, { show, mask }) : undefined
        if (task === undefined) throw new DashboardRefusal(404, 'TASK_NOT_FOUND', `There is no task ${id}.`)
        return { type, columns, task }
      }, context.get('stopwatch')),
    ),
  )

  routes.get('/workers', async (context) => {
    const stopwatch = context.get('stopwatch')
    const lags = (await overview.types(stopwatch)).map(({ schema, table, figures }) => ({
      schema,
      table,
      oldestDueMs: figures?.oldestDueMs ?? null,
    }))
    const answer = await database.look(async (connection) => {
      const types = await typeOverviews(connection)
      const running = []
      for (const type of types.filter((one) => one.mayRead)) {
        for (const row of await countRunning(connection, type)) {
          running.push({ schema: type.schema, table: type.table, ...row })
        }
      }
      return { leases: await listLeases(connection), running, sessions: await listWorkerSessions(connection) }
    }, stopwatch)
    return context.json({ ...answer, lags })
  })

  // The doctor opens no transaction and wants none.
  routes.get('/health', async (context) =>
    context.json({
      checks: await database.ask(async (connection) => {
        const checks = await diagnose(connection)
        return shownFindings(options.columns, checks, await schedulesOf(checks, connection))
      }, context.get('stopwatch')),
    }),
  )

  routes.get('/audit', async (context) =>
    context.json(
      await database.look(async (connection) => {
        const entries = await listAudit(connection, { before: context.req.query('before'), limit: PAGE + 1 })
        return { entries: entries.slice(0, PAGE), more: entries.length > PAGE }
      }, context.get('stopwatch')),
    ),
  )
  return routes
}

/** The schedules whose errors may be quoted; none are read where there is no finding about one. */
async function schedulesOf(checks: readonly CheckResult[], connection: Queryable): Promise<readonly StoredSchedule[]> {
  const found = checks.some(({ check, findings }) => check === 'schedules' && findings.length > 0)
  return found ? listSchedules(connection) : []
}
