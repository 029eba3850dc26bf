import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startProxy, type TestProxy } from '../../support/proxy.js'
import { createTaskType, insertTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor, within } from '../../support/wait-for.js'
import { aborted, Latch, type RecordedWorker, startWorker, taskOf } from '../worker/start-worker.js'
import { marksOf } from './steps-of.js'

let database: TestDatabase
let proxy: TestProxy

beforeAll(async () => {
  database = await createDatabase()
  proxy = await startProxy(database.url)
})

afterEach(() => proxy.pass())
afterAll(() => proxy.close())

interface Stepping {
  readonly id: string
  readonly worker: RecordedWorker
  readonly calls: number[]
  /** The step is being done. */
  readonly entered: Promise<void>
  readonly goOn: () => void
  readonly ended: Promise<unknown>
}

/** A task whose only step waits until it is told to go on. */
async function step(table: string): Promise<Stepping> {
  await createTaskType(database.pool, table, { timeout: '1 minute' })
  const [entered, go] = [new Latch(), new Latch()]
  const calls: number[] = []
  let end: (result: unknown) => void = () => {}
  const ended = new Promise<unknown>((resolve) => {
    end = resolve
  })
  const task = taskOf<object>(table, async (_, { once, attempt }) => {
    const result = once('send', async () => {
      calls.push(attempt)
      entered.open()
      await go.opened
      return 'sent'
    })
    await result.then(end, end)
    await result
  })
  const worker = await startWorker({ connectionString: proxy.url }, [task, 1])
  const [id] = (await insertTasks(database.pool, table)) as [string]
  return { id, worker, calls, entered: entered.opened, goOn: go.open, ended }
}

it('a mark waits for a database that is away for a while, and the step is not done again', async () => {
  const { id, worker, calls, entered, goOn, ended } = await step('away')
  await within(entered)
  await proxy.down()
  goOn()
  await waitFor(() => worker.lines.some(({ message }) => message.startsWith('A step could not be begun or marked')))
  await proxy.pass()
  expect(await within(ended, { timeoutMs: 15_000 })).toBe('sent')
  await worker.seen('finished', { timeoutMs: 15_000 })
  expect(calls).toEqual([1])
  expect(await marksOf(database.pool, 'away', id)).toEqual(['send'])
})

it('a step begins once the database is back', async () => {
  await createTaskType(database.pool, 'begins', { timeout: '1 minute' })
  const [started, go] = [new Latch(), new Latch()]
  const calls: number[] = []
  const task = taskOf<object>('begins', async (_, { once, attempt }) => {
    started.open()
    await go.opened
    await once('send', async () => calls.push(attempt))
  })
  const worker = await startWorker({ connectionString: proxy.url }, [task, 1])
  await insertTasks(database.pool, 'begins')
  await started.opened
  await proxy.down()
  go.open()
  await waitFor(() => worker.lines.some(({ message }) => message.startsWith('A step could not be begun or marked')))
  await proxy.pass()
  await worker.seen('finished', { timeoutMs: 15_000 })
  expect(calls).toEqual([1])
})

it('a mark whose answer is lost is there once, and the step too', async () => {
  const { id, worker, calls, entered, goOn, ended } = await step('answered')
  await within(entered)
  // The server has got the statement; its answer never comes.
  const cut = proxy.cutWhen((data, direction) => direction === 'up' && data.includes('mark_step'), { deliver: true })
  goOn()
  await within(cut)
  expect(await within(ended, { timeoutMs: 15_000 })).toBe('sent')
  await worker.seen('finished', { timeoutMs: 15_000 })
  expect(calls).toEqual([1])
  expect(await marksOf(database.pool, 'answered', id)).toEqual(['send'])
})

it('a handler that is told to stop does not wait for the database', async () => {
  await createTaskType(database.pool, 'stopped', { timeout: '1 minute' })
  const [entered, told] = [new Latch(), new Latch()]
  let result: unknown
  const task = taskOf<object>('stopped', async (_, { once, signal }) => {
    result = await once('send', async () => {
      entered.open()
      await aborted(signal)
    }).catch((error: unknown) => error)
    told.open()
  })
  const worker = await startWorker({ connectionString: proxy.url }, [task, 1])
  await insertTasks(database.pool, 'stopped')
  await entered.opened
  await proxy.down()
  const stopping = worker.worker.stop({ timeoutMs: 0 })
  await within(told.opened, { timeoutMs: 8_000 })
  expect(result).toBeInstanceOf(Error)
  await proxy.pass()
  await within(stopping, { timeoutMs: 15_000 })
})
