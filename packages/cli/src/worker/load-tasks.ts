import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AnyTask, Worker } from '@pg-tasks/client'
import { CliError } from '../cli-error.js'
import { checkModules } from './check-modules.js'

/** What modules export for a worker. */
export interface LoadedModules {
  readonly tasks: readonly AnyTask[]
  /** `export function configure(worker)`: schedules, listeners. */
  readonly configure: ReadonlyArray<(worker: Worker) => unknown>
  /** `export function close()`: pools of the module's own. */
  readonly close: ReadonlyArray<() => unknown>
  /** The Worker of the client that the modules use, which may be another copy than ours. */
  readonly Worker: typeof Worker
}

/**
 * Imports the modules and finds the tasks that they export, alone or in arrays.
 *
 * @throws UsageError if a file isn't there; CliError if there is no task in them
 */
export async function loadTasks(modules: readonly string[]): Promise<LoadedModules> {
  checkModules(modules)
  const tasks = new Set<AnyTask>()
  const configure: Array<(worker: Worker) => unknown> = []
  const close: Array<() => unknown> = []
  for (const written of modules) {
    const file = resolve(written)
    const exported = (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>
    for (const [name, value] of Object.entries(exported)) {
      if (name === 'configure' && typeof value === 'function') configure.push(value as (worker: Worker) => unknown)
      else if (name === 'close' && typeof value === 'function') close.push(value as () => unknown)
      else for (const one of Array.isArray(value) ? value : [value]) if (isTask(one)) tasks.add(one)
    }
  }
  if (tasks.size === 0) {
    throw new CliError(`No task is exported by ${modules.join(', ')}.`, {
      hint: 'Export instances of your Task classes: export const sendInvoice = new SendInvoice(pool)',
    })
  }
  return { tasks: [...tasks], configure, close, Worker: await workerOf(modules, [...tasks]) }
}

/** Not instanceof: the class may be that of another copy of the client. */
function isTask(value: unknown): value is AnyTask {
  if (typeof value !== 'object' || value === null) return false
  const { options, run, enqueue, finish } = value as Readonly<Record<string, unknown>>
  const { schema, table } = (options ?? {}) as Readonly<Record<string, unknown>>
  return (
    [run, enqueue, finish].every((one) => typeof one === 'function') &&
    typeof schema === 'string' &&
    typeof table === 'string'
  )
}

type Client = { readonly Worker: typeof Worker; readonly Task: abstract new () => AnyTask }

/**
 * The Worker that takes these tasks. A project may have a client of its own, and even two instances of one: what tsx loads for a
 * CommonJS module is not what import gives.
 */
async function workerOf(modules: readonly string[], tasks: readonly AnyTask[]): Promise<typeof Worker> {
  const from = createRequire(resolve(modules[0] ?? 'package.json'))
  const ways: ReadonlyArray<() => Promise<Client>> = [
    async () => import(pathToFileURL(from.resolve(CLIENT)).href) as Promise<Client>,
    async () => from(CLIENT) as Client,
    async () => import(CLIENT) as Promise<Client>,
  ]
  for (const way of ways) {
    const client = await way().catch(() => undefined)
    if (client !== undefined && tasks.every((task) => task instanceof client.Task)) return client.Worker
  }
  throw new CliError(`The tasks come from different copies of ${CLIENT}.`, {
    hint: `Let all modules use one: npm ls ${CLIENT}`,
  })
}

const CLIENT = '@pg-tasks/client'
