import { RetryTask } from '@pg-tasks/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Handler, Latch, startWorker, taskOf } from '../integration/worker/start-worker.js'
import { countStates, createTaskType, insertTasks, readTask } from '../support/task-type.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'

const GOOD = 20

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

/** Whatever is asked of it, it throws; a draft of immer is one after its time. */
function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function unreadable(): RetryTask {
  return Object.defineProperty(new RetryTask(), 'message', {
    get() {
      throw new Error('unreadable')
    },
  })
}

/** One bad task in front of good ones. */
async function enqueueBehindBad(table: string): Promise<string> {
  await createTaskType(database.pool, table, { backoffBase: '1 hour', maxRetries: null })
  const [bad] = (await insertTasks(database.pool, table)) as [string]
  await insertTasks(database.pool, table, GOOD)
  return bad
}

describe('the tasks behind a bad one go on', () => {
  // Backpressure and bad rows; one that kills its process, or that no driver can read, has tests of its own.
  it.each<[what: string, handle: () => unknown, stored: RegExp]>([
    ['throws a text with a NUL', () => Promise.reject(new Error('a\u0000b')), /a\uFFFDb/],
    [
      'wishes for a comment with a NUL',
      () => Promise.reject(new RetryTask({ comment: 'a\u0000b', delayMs: 3_600_000 })),
      /./,
    ],
    ['throws ten megabytes', () => Promise.reject(new Error('m'.repeat(10_000_000))), /mmm/],
    ['throws what has no text', () => Promise.reject(Object.create(null)), /./],
    ['throws a revoked proxy', () => Promise.reject(revoked()), /Revoked Proxy/],
    [
      'throws a revoked proxy at once',
      () => {
        throw revoked()
      },
      /Revoked Proxy/,
    ],
    ['wishes without a readable message', () => Promise.reject(unreadable()), /cannot be described/],
  ])('that %s', async (what, handle, stored) => {
    const table = what.replaceAll(' ', '_').toLowerCase()
    const bad = await enqueueBehindBad(table)
    const handler: Handler<object> = ({ id }) => (id === bad ? handle() : Promise.resolve())
    const recorded = await startWorker({ connectionString: database.url }, [taskOf(table, handler), 1])
    await Promise.all([recorded.seen('finished', { count: GOOD }), recorded.seen('retried')])
    expect(recorded.ids('retried')).toEqual([bad])
    expect(recorded.of('error')).toEqual([])
    expect((await readTask(database.pool, table, bad)).last_error).toMatch(stored)
  })

  it('that never settles: it costs one slot, and no more than that', async () => {
    const bad = await enqueueBehindBad('never_settles')
    const latch = new Latch()
    const task = taskOf('never_settles', ({ id }) => (id === bad ? latch.opened : Promise.resolve()))
    const recorded = await startWorker({ connectionString: database.url }, [task, 2])
    await recorded.seen('finished', { count: GOOD })
    expect(await countStates(database.pool, 'never_settles')).toEqual({ finished: GOOD, running: 1 })
    expect(recorded.ids('finished')).not.toContain(bad)
    latch.open()
    await recorded.seen('finished', { count: GOOD + 1 })
  })

  // B-24
  it.each([
    ['executions', 'execution_count', 2_147_483_647],
    ['losses', 'lost_count', 32_767],
  ])('whose %s are counted to the largest number there is', async (what, column, largest) => {
    const table = `largest_${what}`
    const bad = await enqueueBehindBad(table)
    await database.pool.query(`update tasks.${table} set ${column} = $1 where id = $2`, [largest, bad])
    const recorded = await startWorker({ connectionString: database.url }, [taskOf(table), 2])
    await recorded.seen('finished', { count: GOOD + 1 })
    expect(await countStates(database.pool, table)).toEqual({ finished: GOOD + 1 })
    expect((await readTask(database.pool, table, bad))[column]).toBe(largest)
    expect(recorded.of('error')).toEqual([])
  })
})
