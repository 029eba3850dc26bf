import { removeUndeclaredSchedules, type ScheduleOptions, schedule } from '@pg-tasks/client'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startProxy } from '../../support/proxy.js'
import { waitFor } from '../../support/wait-for.js'
import { rowsOf } from '../sql/rows-of.js'
import { newWorker, type RecordedWorker, startWorker } from '../worker/start-worker.js'
import { Scheduling, tick } from './scheduling.js'

let scheduling: Scheduling

beforeAll(async () => {
  scheduling = await Scheduling.create()
})

beforeEach(async () => {
  await scheduling.clear()
  await scheduling.stopClockAt('2027-01-01T00:00:00Z')
})

async function keys(): Promise<string[]> {
  const rows = await rowsOf<{ key: string }>(scheduling.pool, 'select key from tasks.schedules order by key')
  return rows.map(({ key }) => key)
}

/** A worker that declares hourly schedules by these names runs. */
async function declare(names: readonly string[], prepare: (recorded: RecordedWorker) => void = () => {}) {
  const recorded = newWorker({ connectionString: scheduling.database.url })
  for (const key of names) recorded.worker.schedule(tick, { key, cron: '@hourly' }, { note: key })
  prepare(recorded)
  recorded.running = recorded.worker.run()
  await recorded.seen('ready')
  return recorded
}

describe('schedules that a worker declares', () => {
  it('are there when it is ready, beside all others', async () => {
    await scheduling.pool.query(
      `select tasks.schedule('by sql', 'tasks', 'tick', every => '1 h', columns => '{"note": ""}')`,
    )
    await declare(['a', 'b'])
    await declare(['b', 'c'])
    expect(await keys()).toEqual(['a', 'b', 'by sql', 'c'])
    expect(await scheduling.row('a')).toMatchObject({ origin: 'code', columns: { note: 'a' } })
    expect(await scheduling.row('b')).toMatchObject({ revision: 1 })
  })

  it('are written at once when it runs already, the last one of a name', async () => {
    const { worker } = await declare([])
    for (const hour of [1, 2, 3]) worker.schedule(tick, { key: 'a', cron: `0 ${hour} * * *` }, { note: '' })
    await waitFor(async () => (await scheduling.row('a'))?.cron === '0 3 * * *')
    await waitFor(async () => (await scheduling.row('a'))?.state === 'active')
  })

  it('are refused at once for what the options tell, and told by an event for what the database tells', async () => {
    const { worker, lines } = await declare([])
    expect(() => worker.schedule(tick, { key: 'a', cron: '60 * * * *' }, { note: '' })).toThrow(
      'the minute field is "60"',
    )
    const told: Array<{ key: string; error: string }> = []
    worker.on('schedule_refused', (schedule) => told.push(schedule))
    worker.schedule(tick, { key: 'a', cron: '@hourly' }, { amount: 1 } as never)
    await waitFor(() => told.length > 0)
    expect(told).toEqual([
      { key: 'a', error: expect.stringContaining('the column note of tasks.tick must not be NULL') },
    ])
    expect(lines.filter(({ level }) => level === 'error')).toHaveLength(1)
  })

  it('are written when the database is back', async () => {
    const proxy = await startProxy(scheduling.database.url)
    try {
      const { worker, lines } = await startWorker({ connectionString: proxy.url })
      await proxy.down()
      worker.schedule(tick, { key: 'a', cron: '@hourly' }, { note: 'first' })
      await waitFor(() => lines.some(({ message }) => message === 'A schedule could not be written; trying again'))
      worker.schedule(tick, { key: 'a', cron: '@hourly' }, { note: 'second' })
      await proxy.pass()
      await waitFor(async () => (await scheduling.row('a'))?.columns.note === 'second', { timeoutMs: 15_000 })
    } finally {
      await proxy.close()
    }
  })

  it('do not keep a worker from stopping while the database is away', async () => {
    const proxy = await startProxy(scheduling.database.url)
    try {
      const { worker, lines } = await startWorker({ connectionString: proxy.url })
      await proxy.down()
      worker.schedule(tick, { key: 'a', cron: '@hourly' }, { note: '' })
      await waitFor(() => lines.some(({ message }) => message === 'A schedule could not be written; trying again'))
      await worker.stop()
    } finally {
      await proxy.close()
    }
  })
})

describe('schedules that are no longer declared', () => {
  beforeEach(async () => {
    await scheduling.pool.query(
      `select tasks.schedule('shop.by sql', 'tasks', 'tick', every => '1 h', columns => '{"note": ""}')`,
    )
    await schedule(scheduling.pool, tick, { key: 'shop.by call', everyMs: 3_600_000 }, { note: '' })
    const { worker } = await declare(['shop.a', 'shop.b', 'mail.a'])
    await worker.stop()
  })

  it('are removed on request, but for what was written by a call', async () => {
    await declare(['shop.a', 'shop.c'], ({ worker }) => worker.removeUndeclaredSchedules())
    expect(await keys()).toEqual(['shop.a', 'shop.by call', 'shop.by sql', 'shop.c'])
  })

  it('are removed only where their names begin so', async () => {
    await declare(['shop.a'], ({ worker }) => worker.removeUndeclaredSchedules({ keyPrefix: 'shop.' }))
    expect(await keys()).toEqual(['mail.a', 'shop.a', 'shop.by call', 'shop.by sql'])
  })

  it('can be removed without a worker', async () => {
    expect(await removeUndeclaredSchedules(scheduling.pool, ['shop.b'], { keyPrefix: 'shop.' })).toEqual(['shop.a'])
    expect(await removeUndeclaredSchedules(scheduling.pool, ['shop.b'], { keyPrefix: 'shop.' })).toEqual([])
    expect(await removeUndeclaredSchedules(scheduling.pool, [])).toEqual(['mail.a', 'shop.b'])
    expect(await keys()).toEqual(['shop.by call', 'shop.by sql'])
  })
})

describe('types', () => {
  it('hold a schedule to the columns of its task', async () => {
    const { worker } = newWorker({ connectionString: scheduling.database.url })
    const options: ScheduleOptions = { key: 'a', cron: '@hourly' }
    worker.schedule(tick, options, { note: 'a', amount: 1, priority: 2 })
    worker.schedule(tick, options, { note: 'a' })
    // @ts-expect-error a column that may not be NULL is missing
    worker.schedule(tick, options, {})
    // @ts-expect-error another type
    worker.schedule(tick, options, { note: 1 })
    // @ts-expect-error there is no such column
    worker.schedule(tick, options, { note: 'a', nota: 'b' })
    // @ts-expect-error the occurrence gives it
    worker.schedule(tick, options, { note: 'a', planned_to: new Date() })
  })
})
