import {
  ACTION_STATES,
  actOnTasks,
  countTasks,
  type Queryable,
  selectIds,
  type TaskAction,
  type TaskCursor,
  type TaskSelectionOptions,
} from '@pg-tasks/sql'
import { Hono } from 'hono'
import type { DashboardUser } from '../dashboard-options.js'
import { problemOf } from '../problem.js'
import { selectionOf } from '../selection-of.js'
import { badRequest, type DashboardEnv, type Services } from '../services.js'
import { nameOf, refuseUnusable, shownType } from '../shown-type.js'

/** Tasks of one transaction. */
const PART = 500

/** A preview counts so far, and so long in milliseconds. */
const COUNTED = 20_000
const COUNT_MS = 2_000

/** What bulk has done so far. */
interface Progress {
  done: number
  held: number
  passedBy: number
  refused: number
  finished: boolean
  problem?: string | undefined
}

/** One action on all tasks that a filter selects. */
export function bulkRoutes(services: Services): Hono<DashboardEnv> {
  const { database, live } = services
  const routes = new Hono<DashboardEnv>()

  routes.get('/types/:schema/:table/bulk', async (context) =>
    context.json(
      await database.look(async (connection) => {
        const { type, usable, hasKeys } = await shownType(services, connection, nameOf(context))
        const selection = selectionOf(new URL(context.req.url).searchParams)
        refuseUnusable(selection, usable)
        const { state, filters = [] } = selection
        if (filters.length === 0 && state !== undefined) {
          return (await countTasks(connection, type, hasKeys)).states[state]
        }
        const deadline = performance.now() + COUNT_MS
        let count = 0
        let after: TaskCursor | undefined
        do {
          const part = await selectIds(connection, type, usable, {
            ...selection,
            ...ANY_ORDER,
            hasKeys,
            after,
            limit: 5_000,
          })
          count += part.ids.length
          if (part.next === null) return { count, about: false }
          after = part.next
        } while (count < COUNTED && performance.now() < deadline)
        return { count, about: true }
      }, context.get('stopwatch')),
    ),
  )

  routes.post('/types/:schema/:table/bulk/:action', (context) => {
    const action = context.req.param('action') as TaskAction
    if (!Object.hasOwn(ACTION_STATES, action)) throw badRequest(`There is no action ${action}.`)
    const selection = selectionOf(new URL(context.req.url).searchParams)
    const user = context.get('user')
    const parts = bulk(services, user, nameOf(context), action, selection)
    const encoder = new TextEncoder()
    // A line per part; whoever closes the page stops it after the part that is under way.
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { value, done } = await parts.next()
        live.changed()
        if (done === true) controller.close()
        else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`))
      },
      async cancel() {
        await parts.return(undefined)
      },
    })
    return new Response(body, { headers: { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' } })
  })
  return routes
}

/** The order of the page chooses nothing, and one by a column would leave out the tasks that have no value there. */
const ANY_ORDER = { order: undefined }

async function* bulk(
  services: Services,
  user: DashboardUser,
  name: { readonly schema: string; readonly table: string },
  action: TaskAction,
  selection: TaskSelectionOptions,
): AsyncGenerator<Progress, void, void> {
  const progress: Progress = { done: 0, held: 0, passedBy: 0, refused: 0, finished: false }
  // What was acted on may come by again, at a later place in the order.
  const seen = new Set<string>()
  let after: TaskCursor | undefined
  try {
    do {
      const part = await services.database.look(async (connection) => {
        const { type, usable, hasKeys } = await shownType(services, connection, name)
        refuseUnusable(selection, usable)
        return selectIds(connection, type, usable, { ...selection, ...ANY_ORDER, hasKeys, after, limit: PART })
      })
      const ids = part.ids.filter((id) => !seen.has(id))
      if (part.ids.length > 0 && ids.length === 0) break
      for (const id of ids) seen.add(id)
      if (ids.length > 0) await actOnPart(services, user, name, action, selection, ids, progress)
      yield { ...progress }
      after = part.next ?? undefined
    } while (after !== undefined)
  } catch (error) {
    progress.problem = problemOf(error)?.problem.message ?? 'Something went wrong; see the log of the dashboard.'
    services.options.logger?.error({ action, reason: String(error) }, 'A bulk action of the dashboard failed')
  }
  progress.finished = true
  yield progress
}

/** All in one transaction; if one of them is refused (by a constraint, by a trigger), one by one. */
async function actOnPart(
  services: Services,
  user: DashboardUser,
  name: { readonly schema: string; readonly table: string },
  action: TaskAction,
  { state, filters }: TaskSelectionOptions,
  ids: readonly string[],
  progress: Progress,
): Promise<void> {
  const details = {
    bulk: true,
    ...(state === undefined ? {} : { state }),
    ...(filters === undefined || filters.length === 0
      ? {}
      : { filters: filters.map(({ column, operator }) => `${column} ${operator}`) }),
  }
  const some = (chosen: readonly string[]) =>
    services.database.act(user, { action, type: name, details }, async (connection: Queryable) => {
      const { type } = await shownType(services, connection, name)
      const acted = await actOnTasks(connection, type, action, chosen)
      return { affected: acted.done, value: acted }
    })
  try {
    add(progress, await some(ids))
  } catch (error) {
    if (problemOf(error)?.status !== 422 || ids.length === 1) {
      if (ids.length > 1) throw error
      progress.refused += 1
      progress.problem = problemOf(error)?.problem.message
      return
    }
    for (const id of ids) await actOnPart(services, user, name, action, { state, filters }, [id], progress)
  }
}

function add(progress: Progress, { done, held, passedBy }: { done: number; held: number; passedBy: number }): void {
  progress.done += done
  progress.held += held
  progress.passedBy += passedBy
}
