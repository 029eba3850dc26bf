import {
  backfillSchedule,
  listSchedules,
  pauseSchedule,
  previewOccurrences,
  previewSchedule,
  resumeSchedule,
  type ScheduleOptions,
  schedule,
  Task,
  triggerSchedule,
  unschedule,
} from '@pg-tasks/client'
import { listOccurrences, type Queryable, readClock, type StoredSchedule } from '@pg-tasks/sql'
import { Hono } from 'hono'
import { ruleOf, shownError, shownValues } from '../column-rules.js'
import { DashboardRefusal } from '../problem.js'
import {
  badRequest,
  bodyOf,
  type DashboardContext,
  type DashboardEnv,
  optionalText,
  type Services,
} from '../services.js'

/** How many of the next occurrences are shown. */
const NEXT = 10

/** A type known by its table alone: a schedule needs no handler to be written. */
class TaskOfTable extends Task<Record<string, unknown>> {
  override async run(): Promise<void> {}
}

/** Schedules: listed, written, paused, triggered, backfilled. */
export function scheduleRoutes(services: Services): Hono<DashboardEnv> {
  const { database, options } = services
  const routes = new Hono<DashboardEnv>()
  const shown = (stored: StoredSchedule): StoredSchedule => ({
    ...stored,
    columns: shownValues(options.columns, stored.schema, stored.table, stored.columns),
    lastError: shownError(options.columns, stored.schema, stored.table, stored.columns, stored.lastError),
  })

  routes.get('/schedules', async (context) =>
    context.json({
      schedules: (await database.look((connection) => listSchedules(connection), context.get('stopwatch'))).map(shown),
    }),
  )

  routes.post('/schedules/preview', async (context) => {
    const timing = (await bodyOf(context)).timing as ScheduleOptions
    const nowMs = await database.look((connection) => readClock(connection), context.get('stopwatch'))
    return context.json({ next: previewOccurrences(withDates(timing), 5, new Date(nowMs)) })
  })

  routes.get('/schedules/:key', async (context) =>
    context.json(
      await database.look(async (connection) => {
        const stored = await find(connection, context.req.param('key'))
        const next =
          stored.state === 'finished' ? [] : await previewSchedule(connection, stored.key, NEXT).catch(() => [])
        return { schedule: shown(stored), next, history: await listOccurrences(connection, stored.key) }
      }, context.get('stopwatch')),
    ),
  )

  routes.put('/schedules/:key', async (context) => {
    const key = context.req.param('key')
    const body = await bodyOf(context)
    const schema = optionalText(body.schema, 'schema') ?? ''
    const table = optionalText(body.table, 'table') ?? ''
    if (schema === '' || table === '') throw badRequest('schema and table must be given.')
    const timing = withDates(body.timing as ScheduleOptions)
    const given = (body.columns ?? {}) as Record<string, unknown>
    const state = await act(context, 'schedule', async (connection) => {
      const [old] = await listSchedules(connection).then((all) => all.filter((one) => one.key === key))
      const columns = { ...given, ...keptValues(old, schema, table, given) }
      return schedule(connection, new TaskOfTable({ schema, table }), { ...timing, key }, columns)
    })
    return context.json({ state })
  })

  routes.delete('/schedules/:key', async (context) => {
    await act(context, 'unschedule', async (connection) => {
      if (!(await unschedule(connection, context.req.param('key')))) throw notFound(context.req.param('key'))
    })
    return context.json({})
  })

  routes.post('/schedules/:key/pause', async (context) => {
    const reason = optionalText((await bodyOf(context)).reason, 'reason')
    await act(context, 'pause_schedule', (connection) => pauseSchedule(connection, context.req.param('key'), reason))
    return context.json({})
  })

  routes.post('/schedules/:key/resume', async (context) => {
    const catchUp = (await bodyOf(context)).catchUp === true
    await act(context, 'resume_schedule', (connection) =>
      resumeSchedule(connection, context.req.param('key'), { catchUp }),
    )
    return context.json({})
  })

  routes.post('/schedules/:key/trigger', async (context) => {
    const requestId = optionalText((await bodyOf(context)).requestId, 'requestId')
    const id = await act(context, 'trigger_schedule', (connection) =>
      triggerSchedule(connection, context.req.param('key'), requestId === undefined ? {} : { requestId }),
    )
    return context.json({ id })
  })

  routes.post('/schedules/:key/backfill', async (context) => {
    const body = await bodyOf(context)
    const from = dateOf(body.from, 'from')
    const to = dateOf(body.to, 'to')
    const enqueued = await act(
      context,
      'backfill_schedule',
      (connection) => backfillSchedule(connection, context.req.param('key'), from, to),
      { from, to },
    )
    return context.json({ enqueued })
  })

  /** A backfill of nothing is written down as well: somebody asked for it. */
  async function act<Value>(
    context: DashboardContext,
    action: string,
    work: (connection: Queryable) => Promise<Value>,
    details?: Record<string, unknown>,
  ): Promise<Value> {
    const target = context.req.param('key') as string
    const value = await database.act(
      context.get('user'),
      { action, target, details },
      async (connection) => {
        const done = await work(connection)
        return { affected: typeof done === 'number' ? Math.max(done, 1) : 1, value: done }
      },
      context.get('stopwatch'),
    )
    services.live.changed()
    return value
  }

  /** Values that the page never got stay as they are. */
  function keptValues(
    old: StoredSchedule | undefined,
    schema: string,
    table: string,
    given: Record<string, unknown>,
  ): Record<string, unknown> {
    if (old === undefined || old.schema !== schema || old.table !== table) return {}
    const kept = Object.entries(old.columns).filter(([column]) => {
      const rule = ruleOf(options.columns, schema, table, column)
      return rule === 'hide' || (rule === 'mask' && !Object.hasOwn(given, column))
    })
    return Object.fromEntries(kept)
  }

  return routes
}

async function find(connection: Queryable, key: string): Promise<StoredSchedule> {
  const stored = (await listSchedules(connection)).find((one) => one.key === key)
  if (stored === undefined) throw notFound(key)
  return stored
}

function notFound(key: string): DashboardRefusal {
  return new DashboardRefusal(404, 'SCHEDULE_NOT_FOUND', `There is no schedule ${key}.`)
}

const DATES = ['anchor', 'startsAt', 'endsAt'] as const

/** JSON has no dates. */
function withDates(timing: unknown): ScheduleOptions {
  if (typeof timing !== 'object' || timing === null) throw badRequest('timing must be an object.')
  const given = { ...timing } as Record<string, unknown>
  for (const name of DATES) {
    if (given[name] !== undefined && given[name] !== null) given[name] = dateOf(given[name], name)
  }
  return given as unknown as ScheduleOptions
}

function dateOf(value: unknown, name: string): Date {
  const date = new Date(typeof value === 'string' ? value : Number.NaN)
  if (Number.isNaN(date.getTime())) throw badRequest(`${name} must be a time.`)
  return date
}
