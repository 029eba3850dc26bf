import { schedule } from '@pg-tasks/client'
import { startTestClock, type TestClock } from '@pg-tasks/client/testing'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createTaskType, insertTasks, readTask } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { Latch, startWorker, taskOf, workersAsleep } from '../worker/start-worker.js'

const DAY_MS = 86_400_000
let database: TestDatabase
let clock: TestClock | undefined

beforeAll(async () => {
  database = await createDatabase()
})

afterEach(async () => {
  await clock?.restore()
  clock = undefined
})

describe('the test clock', () => {
  it('makes a sleeping worker run at once what a day later is due', async () => {
    await createTaskType(database.pool, 'tomorrow')
    const task = taskOf('tomorrow')
    clock = await startTestClock(database.pool)
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    const id = await task.enqueue(database.pool, {}, { delayMs: DAY_MS })
    await workersAsleep(database.pool, 'tomorrow')
    await clock.advance(DAY_MS)
    await recorded.seen('finished')
    const { started_at: startedAt } = await readTask(database.pool, 'tomorrow', id)
    expect(startedAt.getTime()).toBeGreaterThan(Date.now() + DAY_MS - 60_000)
    await recorded.worker.stop()
  })

  it('fires the schedules of the time that passed', async () => {
    await createTaskType(database.pool, 'daily')
    const task = taskOf('daily')
    clock = await startTestClock(database.pool)
    await schedule(
      database.pool,
      task,
      { key: 'daily', cron: '0 3 * * *', timezone: 'UTC', catchUp: 'all', catchUpWindowMs: 7 * DAY_MS },
      {},
    )
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    await clock.advance(3 * DAY_MS)
    await recorded.seen('finished', { count: 3 })
    await recorded.worker.stop()
  })

  it('does not let the leases of living workers end', async () => {
    await createTaskType(database.pool, 'long_run', { timeout: '1 minute' })
    const latch = new Latch()
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('long_run', () => latch.opened), 1])
    clock = await startTestClock(database.pool)
    await insertTasks(database.pool, 'long_run')
    await recorded.seen('started')
    await clock.advance(DAY_MS)
    expect((await database.pool.query('select tasks.rescue_tasks_long_run() as count')).rows).toEqual([{ count: '0' }])
    latch.open()
    expect(await recorded.seen('finished')).toMatchObject([{ attempt: 1 }])
    await recorded.worker.stop()
  })

  it('stands still where that is asked for, goes to any instant, and moves timers along', async () => {
    await createTaskType(database.pool, 'long_ago')
    const moveTimers = vi.fn()
    clock = await startTestClock(database.pool, { frozen: true, moveTimers })
    const instant = new Date('2001-02-03T04:05:06.789Z')
    await clock.set(instant)
    expect(await clock.now()).toEqual(instant)
    await clock.advance(1_500)
    expect(await clock.now()).toEqual(new Date('2001-02-03T04:05:08.289Z'))
    expect(moveTimers.mock.lastCall).toEqual([1_500, new Date('2001-02-03T04:05:08.289Z')])
    // What is enqueued then is due then.
    await insertTasks(database.pool, 'long_ago')
    expect(await taskOf('long_ago').acquire(database.pool)).toMatchObject([{ planned_to: await clock.now() }])
  })

  it('leaves nothing behind', async () => {
    await createTaskType(database.pool, 'afterwards')
    clock = await startTestClock(database.pool)
    await clock.advance(DAY_MS)
    await clock.restore()
    const { rows } = await database.pool.query(`select
      abs(extract(epoch from tasks.clock() - clock_timestamp())) < 60 as right, to_regclass('tasks.test_clock') as left,
      (select pg_get_expr(adbin, adrelid) from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
       where a.attrelid = 'tasks.afterwards'::regclass and a.attname = 'planned_to') as planned`)
    expect(rows).toEqual([{ right: true, left: null, planned: 'clock_timestamp()' }])
  })

  it('refuses a time that is none', async () => {
    clock = await startTestClock(database.pool)
    await expect(clock.advance(-1)).rejects.toThrow(/not negative/)
    await expect(clock.set(new Date('nonsense'))).rejects.toThrow(/valid/)
  })
})
