import { CancelTask, NotSettledError, RetryTask } from '@pg-tasks/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { createTaskType, insertTasks, readTask, readTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { startWorker, taskOf } from './start-worker.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

describe('a handler that returns', () => {
  it.each<[string, () => unknown]>([
    ['nothing from an async function', async () => {}],
    ['a value', async () => 5],
    ['without a promise', () => 5],
    // biome-ignore lint/suspicious/noThenProperty: query builders are such
    ['a promise-like that is no Promise', () => ({ then: (resolve: (value: unknown) => void) => resolve(undefined) })],
  ])('finishes its task: %s', async (name, handler) => {
    const table = `returns_${name.replaceAll(/\W/g, '_')}`
    await createTaskType(database.pool, table)
    const [id] = await insertTasks(database.pool, table)
    const recorded = await startWorker({ connectionString: database.url }, [taskOf(table, handler), 1])
    const [event] = await recorded.seen('finished')
    expect(event).toMatchObject({ schema: 'tasks', table, id, attempt: 1 })
    expect(event.durationMs).toBeGreaterThanOrEqual(0)
    expect(await readTask(database.pool, table, id as string)).toMatchObject({ state: 'finished', execution_count: 1 })
  })
})

// B-49, PEERS 11, 12
describe('a handler that throws', () => {
  const circular: { self?: unknown } = {}
  circular.self = circular
  it.each<[string, () => unknown, RegExp]>([
    ['an error', async () => Promise.reject(new TypeError('what')), /TypeError: what\n\s+at /],
    [
      'before it gives a promise',
      () => {
        throw new Error('synchronously')
      },
      /synchronously/,
    ],
    ['undefined', () => Promise.reject(), /undefined/],
    [
      'a number',
      () => {
        // biome-ignore lint/style/useThrowOnlyError: that is the test
        throw 1
      },
      /1/,
    ],
    ['a BigInt', () => Promise.reject(12n), /12/],
    ['null', () => Promise.reject(null), /null/],
    ['a circular object', () => Promise.reject(circular), /self/],
    ['a text with a NUL', () => Promise.reject(new Error('a\u0000b')), /a\uFFFDb/],
    ['half a surrogate pair', () => Promise.reject('x\uD800y'), /x\uFFFDy/],
    ['a megabyte', () => Promise.reject(new Error('m'.repeat(1_000_000))), /mmm/],
    [
      'an object whose getters throw',
      () =>
        Promise.reject({
          get message() {
            throw new Error('no')
          },
        }),
      /./,
    ],
  ])('is retried with the error stored: %s', async (name, handler, stored) => {
    const table = `throws_${name.replaceAll(/\W/g, '_')}`
    await createTaskType(database.pool, table, { backoffBase: '1 hour' })
    const [id] = await insertTasks(database.pool, table)
    const recorded = await startWorker({ connectionString: database.url }, [taskOf(table, handler), 1])
    const [event] = await recorded.seen('retried')
    expect(event).toMatchObject({ id, attempt: 1, state: 'scheduled' })
    const row = await readTask(database.pool, table, id as string)
    expect(row).toMatchObject({ state: 'scheduled', execution_count: 1, run_token: null, run_worker: null })
    expect(row.last_error).toMatch(stored)
    expect(row.last_error.length).toBeLessThanOrEqual(10_000)
  })

  it('is retried by the backoff of its type, then failed when its executions are used up', async () => {
    await createTaskType(database.pool, 'fails', { maxRetries: 2, backoffBase: '50 ms', backoffMax: '100 ms' })
    const [id] = await insertTasks(database.pool, 'fails')
    const attempts: number[] = []
    const handler = async (_: unknown, { attempt }: { attempt: number }) => {
      attempts.push(attempt)
      throw new Error(`attempt ${attempt}`)
    }
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('fails', handler), 1])
    const [event] = await recorded.seen('failed')
    expect(event).toMatchObject({ id, attempt: 3, reason: 'error', error: new Error('attempt 3') })
    expect(attempts).toEqual([1, 2, 3])
    expect(recorded.of('retried')).toHaveLength(2)
    const row = await readTask(database.pool, 'fails', id as string)
    expect(row).toMatchObject({ state: 'failed', failure_reason: 'error', execution_count: 3 })
    expect(row.last_error).toMatch(/attempt 3/)
  })

  // B-44
  it('does not touch the others of its batch', async () => {
    await createTaskType(database.pool, 'batch', { backoffBase: '1 hour' })
    const ids = await insertTasks(database.pool, 'batch', 10)
    const runs: string[] = []
    const task = taskOf('batch', async ({ id }) => {
      runs.push(id)
      if (id === ids[3]) throw new Error('the fourth')
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 10])
    await Promise.all([recorded.seen('finished', { count: 9 }), recorded.seen('retried')])
    expect(runs.toSorted()).toEqual(ids.toSorted())
    const rows = await readTasks(database.pool, 'batch')
    expect(rows.map((row) => row.state)).toEqual(ids.map((id) => (id === ids[3] ? 'scheduled' : 'finished')))
    expect(rows.map((row) => row.execution_count)).toEqual(ids.map(() => 1))
  })
})

describe('a handler that chooses its outcome', () => {
  it('is retried at the time and with the comment of its RetryTask', async () => {
    await createTaskType(database.pool, 'chooses_retry')
    const [id] = await insertTasks(database.pool, 'chooses_retry')
    const cause = new Error('the bank')
    const task = taskOf('chooses_retry', async () => {
      throw new RetryTask({ delayMs: 3_600_000, comment: 'closed', cause })
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    await recorded.seen('retried')
    const row = await readTask(database.pool, 'chooses_retry', id as string)
    expect(row).toMatchObject({ state: 'scheduled', comment: 'closed', execution_count: 1 })
    expect(row.last_error).toMatch(/the bank/)
    const { rows } = await database.pool.query(
      `select planned_to - now() between interval '59 min' and interval '61 min' as in_an_hour from tasks.chooses_retry`,
    )
    expect(rows).toEqual([{ in_an_hour: true }])
  })

  it('is logged as what it chose, without a stack', async () => {
    await createTaskType(database.pool, 'asks_again')
    const [id] = await insertTasks(database.pool, 'asks_again')
    const lines: unknown[] = []
    const noted = (level: string) => (fields: object, message: string) => lines.push({ level, message, ...fields })
    const logger = { debug: noted('debug'), info: noted('info'), warn: noted('warn'), error: noted('error') }
    const task = taskOf('asks_again', async () => {
      throw new RetryTask({ delayMs: 3_600_000, comment: 'closed' })
    })
    const recorded = await startWorker({ connectionString: database.url, logger }, [task, 1])
    await recorded.seen('retried')
    expect((await readTask(database.pool, 'asks_again', id as string)).last_error).toBe('RetryTask: closed')
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'info', message: 'Task will be retried', id, error: 'RetryTask: closed' }),
    )
  })

  it('is logged with what it threw, if that was undefined', async () => {
    await createTaskType(database.pool, 'throws_nothing')
    await insertTasks(database.pool, 'throws_nothing')
    const errors: unknown[] = []
    const note = (fields: { readonly error?: unknown }): void => void errors.push(fields.error)
    const ignore = (): void => {}
    const logger = { debug: ignore, info: ignore, warn: note, error: note }
    const task = taskOf('throws_nothing', () => Promise.reject())
    const recorded = await startWorker({ connectionString: database.url, logger }, [task, 1])
    await recorded.seen('retried')
    expect(errors).toEqual(['undefined'])
  })

  it('is run again at once after a RetryTask without delay', async () => {
    await createTaskType(database.pool, 'retries_at_once')
    await insertTasks(database.pool, 'retries_at_once')
    const task = taskOf('retries_at_once', async (_, { attempt }) => {
      if (attempt < 3) throw new RetryTask({ delayMs: 0 })
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    const [event] = await recorded.seen('finished')
    expect(event).toMatchObject({ attempt: 3 })
  })

  it('is canceled with the comment of its CancelTask', async () => {
    await createTaskType(database.pool, 'chooses_cancel')
    const [id] = await insertTasks(database.pool, 'chooses_cancel')
    const task = taskOf('chooses_cancel', async () => {
      throw new CancelTask('withdrawn')
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    const [event] = await recorded.seen('canceled')
    expect(event).toMatchObject({ id, attempt: 1 })
    expect(await readTask(database.pool, 'chooses_cancel', id as string)).toMatchObject({
      state: 'canceled',
      comment: 'withdrawn',
    })
  })

  it('is retried if it returns without an outcome and autoFinish is off', async () => {
    await createTaskType(database.pool, 'strict', { backoffBase: '1 hour' })
    const [id] = await insertTasks(database.pool, 'strict')
    const task = taskOf('strict', async () => {}, { autoFinish: false })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    const [event] = await recorded.seen('retried')
    expect(event.error).toBeInstanceOf(NotSettledError)
    const row = await readTask(database.pool, 'strict', id as string)
    expect(row).toMatchObject({ state: 'scheduled' })
    expect(row.last_error).toMatch(/autoFinish is off/)
  })
})

describe('a type whose tasks are deleted at finish', () => {
  it('leaves nothing behind and says finished', async () => {
    await createTaskType(database.pool, 'deleted', { storageTime: '0' })
    const ids = await insertTasks(database.pool, 'deleted', 20)
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('deleted'), 5])
    await recorded.seen('finished', { count: 20 })
    expect(recorded.ids('finished').toSorted()).toEqual(ids.toSorted())
    expect(await readTasks(database.pool, 'deleted')).toEqual([])
    expect(recorded.of('lost')).toEqual([])
  })
})
