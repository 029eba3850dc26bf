import { unschedule } from '@pg-tasks/client'
import { fireSchedules } from '@pg-tasks/sql'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { planOccurrences } from '../../../packages/client/src/schedule/plan.js'
import { startProxy } from '../../support/proxy.js'
import { waitFor } from '../../support/wait-for.js'
import { startWorker } from '../worker/start-worker.js'
import { Scheduling, type StartedPass, TZDATA } from './scheduling.js'

let scheduling: Scheduling

beforeAll(async () => {
  scheduling = await Scheduling.create()
})

beforeEach(async () => {
  await scheduling.clear()
  await scheduling.stopClockAt('2027-01-01T09:59:30Z')
})

/** What a scheduler sends that has read this and knows nothing since; the outcome for its one schedule. */
async function fireWhatWasRead({ due, client }: StartedPass): Promise<string | undefined> {
  const [schedule] = due
  if (schedule === undefined) throw new Error('Nothing was due.')
  const plan = planOccurrences(schedule, schedule.now)
  const firing = {
    key: schedule.key,
    revision: schedule.revision,
    expected: schedule.nextAt as Date,
    nextAt: plan.nextAt,
    occurrences: plan.due,
    dropped: 0,
  }
  const [result] = await fireSchedules(client, [firing], TZDATA)
  await client.query('commit')
  await client.end()
  return result?.outcome
}

// Case 3.
describe('eight schedulers at once', () => {
  it('enqueue each of many occurrences once', async () => {
    for (let n = 1; n <= 20; n += 1) await scheduling.schedule({ key: `tick ${n}`, cron: '* * * * *' })
    await scheduling.stopClockAt('2027-01-01T10:00:00Z')
    const results = await Promise.all(Array.from({ length: 8 }, () => scheduling.pass(5)))
    expect(results.flatMap(({ fired }) => fired)).toHaveLength(20)
    expect(results.flatMap(({ failed, refused }) => [...failed, ...refused])).toEqual([])
    expect(await scheduling.enqueued()).toEqual(Array.from({ length: 20 }, () => '01-01T10:00 schedule'))
  })

  it('do so without the locks, by the watermark alone', async () => {
    await scheduling.schedule({ cron: '* * * * *' })
    await scheduling.stopClockAt('2027-01-01T10:00:00Z')
    const passes: StartedPass[] = []
    for (let n = 1; n <= 8; n += 1) {
      const pass = await scheduling.startPass()
      await pass.loseLocks()
      passes.push(pass)
    }
    const outcomes = await Promise.all(passes.map(fireWhatWasRead))
    expect(outcomes.toSorted()).toEqual(['fired', ...Array.from({ length: 7 }, () => 'overtaken')])
    expect(await scheduling.enqueued()).toEqual(['01-01T10:00 schedule'])
  })
})

// Case 4.
describe('a scheduler that is cut off', () => {
  beforeEach(() => scheduling.schedule({ cron: '* * * * *' }))

  it('before its commit has done nothing, and the next pass does it', async () => {
    await scheduling.stopClockAt('2027-01-01T10:00:00Z')
    const pass = await scheduling.startPass()
    expect((await pass.write()).fired).toHaveLength(1)
    expect((await scheduling.pass()).handled).toBe(false)
    await scheduling.pool.query('select pg_terminate_backend($1)', [
      (pass.client as unknown as { processID: number }).processID,
    ])
    await expect(pass.commit()).rejects.toThrow()
    expect(await scheduling.enqueued()).toEqual([])
    await scheduling.pass()
    expect(await scheduling.enqueued()).toEqual(['01-01T10:00 schedule'])
  })

  it('after its commit has done it, and the next pass does nothing', async () => {
    await scheduling.stopClockAt('2027-01-01T10:00:00Z')
    const pass = await scheduling.startPass()
    await pass.write()
    await pass.client.query('commit')
    await pass.client.end()
    expect(await scheduling.pass()).toMatchObject({ fired: [], handled: false })
    expect(await scheduling.enqueued()).toEqual(['01-01T10:00 schedule'])
  })
})

// Case 5.
describe('a worker whose connection is cut at COMMIT', () => {
  it.each([
    { what: 'before the server has it', deliver: false },
    { what: 'after the server has it', deliver: true },
  ])('$what enqueues the occurrence once', async ({ deliver }) => {
    await scheduling.schedule({ cron: '* * * * *' })
    const proxy = await startProxy(scheduling.database.url)
    try {
      await startWorker({ connectionString: proxy.url })
      let firing = false
      const cut = proxy.cutWhen(
        (data, direction) => {
          if (direction !== 'up') return false
          firing ||= data.includes('tasks.fire_schedule')
          return firing && data.includes('commit')
        },
        { deliver },
      )
      await scheduling.stopClockAt('2027-01-01T10:00:00Z')
      await scheduling.wake()
      await cut
      await waitFor(async () => (await scheduling.enqueued()).length === 1)
      // That the next occurrence is handled shows that the worker has come to terms with this one.
      await scheduling.stopClockAt('2027-01-01T10:01:00Z')
      await scheduling.wake()
      await waitFor(async () => (await scheduling.enqueued()).length > 1)
      expect(await scheduling.enqueued()).toEqual(['01-01T10:00 schedule', '01-01T10:01 schedule'])
    } finally {
      await proxy.close()
    }
  })
})

// Case 12.
describe('a schedule that was removed and written again', () => {
  it('does not enqueue an occurrence a second time', async () => {
    await scheduling.schedule({ cron: '* * * * *' })
    await scheduling.passAt('2027-01-01T10:00:00Z')
    expect(await unschedule(scheduling.pool, 'tick')).toBe(true)
    // The clock was put back since: the same minute comes once more.
    await scheduling.stopClockAt('2027-01-01T09:59:50Z')
    await scheduling.schedule({ cron: '* * * * *' }, 'deployed')
    expect(await scheduling.nextAt()).toBe('01-01T10:00')
    await scheduling.passAt('2027-01-01T10:00:20Z')
    await scheduling.passAt('2027-01-01T10:01:00Z')
    expect(await scheduling.enqueued()).toEqual(['01-01T10:00 schedule', '01-01T10:01 schedule'])
    const { rows } = await scheduling.pool.query('select note from tasks.tick order by occurrence_at')
    expect(rows).toEqual([{ note: 'tick' }, { note: 'deployed' }])
  })
})

// Case 14.
describe('a database clock', () => {
  it('that is put back five minutes repeats nothing', async () => {
    await scheduling.stopClockAt('2027-01-01T17:04:00Z')
    await scheduling.schedule({ cron: '* * * * *' })
    await scheduling.passAt('2027-01-01T17:05:00Z')
    const before = await scheduling.enqueued()
    for (const minute of ['00', '01', '02', '03', '04', '05']) await scheduling.passAt(`2027-01-01T17:${minute}:01Z`)
    expect(await scheduling.enqueued()).toEqual(before)
    await scheduling.passAt('2027-01-01T17:06:00Z')
    expect(await scheduling.enqueued()).toEqual([...before, '01-01T17:06 schedule'])
  })

  it('that is put back between reading and writing enqueues nothing yet', async () => {
    await scheduling.schedule({ cron: '* * * * *' })
    await scheduling.stopClockAt('2027-01-01T10:00:00Z')
    const pass = await scheduling.startPass()
    await scheduling.stopClockAt('2027-01-01T09:59:59Z')
    expect(await fireWhatWasRead(pass)).toBe('overtaken')
    await scheduling.passAt('2027-01-01T10:00:00Z')
    expect(await scheduling.enqueued()).toEqual(['01-01T10:00 schedule'])
  })

  it('that is put forward two hours is an outage of two hours', async () => {
    await scheduling.schedule({ cron: '*/30 * * * *', catchUp: 'all', catchUpWindowMs: 86_400_000 })
    await scheduling.passAt('2027-01-01T10:00:00Z')
    await scheduling.passAt('2027-01-01T12:00:00Z')
    expect(await scheduling.enqueued()).toEqual([
      '01-01T10:00 schedule',
      '01-01T10:30 catchup',
      '01-01T11:00 catchup',
      '01-01T11:30 catchup',
      '01-01T12:00 schedule',
    ])
  })
})

// Case 16.
describe('a scheduler that was stopped for long after it had read', () => {
  it('writes nothing, also when the ledger has forgotten', async () => {
    await scheduling.schedule({ cron: '* * * * *' })
    await scheduling.stopClockAt('2027-01-01T10:00:00Z')
    const straggler = await scheduling.startPass()
    await straggler.loseLocks()
    await scheduling.passAt('2027-01-01T10:00:00Z')
    await scheduling.passAt('2027-01-01T10:01:00Z')
    await scheduling.pool.query('delete from tasks.occurrences')
    expect(await fireWhatWasRead(straggler)).toBe('overtaken')
    const { rows } = await scheduling.pool.query('select count(*)::int as tasks from tasks.tick')
    expect(rows).toEqual([{ tasks: 2 }])
  })
})
