import { cancel, clean, deleteEnded, editTask, enqueueText, type FinalState, reset, retry, runNow } from '@pg-tasks/sql'
import { Hono } from 'hono'
import type { Acted } from '../database.js'
import { DashboardRefusal } from '../problem.js'
import {
  badRequest,
  bodyOf,
  type DashboardEnv,
  numberOrNull,
  optionalText,
  type Services,
  textsOf,
} from '../services.js'
import { nameOf, type ShownType, shownType } from '../shown-type.js'

/** A batch of one clean; the page goes on while there is more. */
const CLEANED_AT_ONCE = 1_000

const FINAL_STATES = ['finished', 'failed', 'canceled'] as const

/** Columns that are the queue's own; a form never sets them. */
const QUEUE_COLUMNS: ReadonlySet<string> = new Set(
  'id created_at started_at finished_at execution_count canceled run_token run_worker run_until lost_count held failed_at canceled_at failure_reason last_error schedule_key occurrence_at schedule_trigger'.split(
    ' ',
  ),
)

/** What is done to one task, and what makes or deletes tasks of a type. */
export function taskRoutes(services: Services): Hono<DashboardEnv> {
  const { database, live } = services
  const routes = new Hono<DashboardEnv>()

  routes.post('/types/:schema/:table/tasks', async (context) => {
    const values = textsOf((await bodyOf(context)).values)
    const name = nameOf(context)
    const columns = Object.keys(values)
    const id = await database.act(
      context.get('user'),
      { action: 'enqueue', type: name, details: { columns } },
      async (connection) => {
        const shown = await shownType(services, connection, name)
        refuseColumns(shown, columns)
        const made = await enqueueText(connection, shown.type, values)
        return { affected: 1, value: made, target: made }
      },
      context.get('stopwatch'),
    )
    live.changed()
    return context.json({ id }, 201)
  })

  routes.patch('/types/:schema/:table/tasks/:id', async (context) => {
    const values = textsOf((await bodyOf(context)).values)
    const name = nameOf(context)
    const id = idOf(context.req.param('id'))
    const columns = Object.keys(values)
    if (columns.length === 0) throw badRequest('values must not be empty.')
    await database.act(
      context.get('user'),
      { action: 'edit', type: name, target: id, details: { columns } },
      async (connection) => {
        const shown = await shownType(services, connection, name)
        refuseColumns(shown, columns)
        if (!(await editTask(connection, shown.type, id, values))) throw notWaiting(id)
        return { affected: 1, value: undefined }
      },
      context.get('stopwatch'),
    )
    live.changed()
    return context.json({})
  })

  routes.post('/types/:schema/:table/tasks/:id/:action', async (context) => {
    const { action } = context.req.param()
    const name = nameOf(context)
    const id = idOf(context.req.param('id'))
    const body = await bodyOf(context)
    const comment = optionalText(body.comment, 'comment')
    const forgetMarks = body.forgetMarks === true
    const found = await database.act(
      context.get('user'),
      { action, type: name, target: id, ...(forgetMarks ? { details: { forgetMarks } } : {}) },
      async (connection): Promise<Acted<string>> => {
        const { type } = await shownType(services, connection, name)
        switch (action) {
          case 'retry':
            return { affected: 1, value: (await retry(connection, type, id, { delayMs: 0, comment })).state }
          case 'cancel': {
            const state = await cancel(connection, type, id, { comment })
            return { affected: isFinal(state) ? 0 : 1, value: state }
          }
          case 'reset':
            return { affected: 1, value: await reset(connection, type, id, { forgetMarks }) }
          case 'run_now':
            if (!(await runNow(connection, type, id))) throw notWaiting(id)
            return { affected: 1, value: 'ready' }
          case 'clean':
            if ((await deleteEnded(connection, type, [id])) === 0) {
              throw new DashboardRefusal(
                409,
                'NOT_ENDED',
                `Task ${id} has not ended, is gone, or is held by an open transaction.`,
              )
            }
            return { affected: 1, value: 'deleted' }
          default:
            throw badRequest(`There is no action ${action}.`)
        }
      },
      context.get('stopwatch'),
    )
    live.changed()
    return context.json({ state: found })
  })

  routes.post('/types/:schema/:table/clean', async (context) => {
    const body = await bodyOf(context)
    const name = nameOf(context)
    const olderThanMs = numberOrNull(body.olderThanMs, 'olderThanMs')
    const states = Array.isArray(body.states) ? body.states : []
    if (olderThanMs === null || olderThanMs < 0) throw badRequest('olderThanMs must be given.')
    if (states.length === 0 || states.some((state) => !FINAL_STATES.includes(state))) {
      throw badRequest(`states must be some of ${FINAL_STATES.join(', ')}.`)
    }
    const deleted = await database.act(
      context.get('user'),
      { action: 'clean', type: name, details: { olderThanMs, states } },
      async (connection) => {
        const { type } = await shownType(services, connection, name)
        const count = await clean(connection, type, {
          olderThanMs,
          states: states as FinalState[],
          maxNum: CLEANED_AT_ONCE,
        })
        return { affected: count, value: count }
      },
      context.get('stopwatch'),
    )
    live.changed()
    return context.json({ deleted, more: deleted === CLEANED_AT_ONCE })
  })
  return routes
}

function isFinal(state: string): boolean {
  return (FINAL_STATES as readonly string[]).includes(state)
}

function idOf(text: string): string {
  if (!/^-?\d{1,19}$/.test(text)) throw new DashboardRefusal(404, 'TASK_NOT_FOUND', `There is no task ${text}.`)
  return text
}

function refuseColumns({ columns }: ShownType, given: readonly string[]): void {
  for (const name of given) {
    const column = columns.find((one) => one.name === name)
    if (column === undefined || column.generated || QUEUE_COLUMNS.has(name)) {
      throw badRequest(`Column ${name} can’t be set here.`)
    }
  }
}

function notWaiting(id: string): DashboardRefusal {
  return new DashboardRefusal(
    409,
    'NOT_WAITING',
    `Task ${id} doesn’t wait any more: a worker has it, it has ended, or it is gone.`,
  )
}
