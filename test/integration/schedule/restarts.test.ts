import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { waitFor } from '../../support/wait-for.js'
import { scalarOf } from '../sql/rows-of.js'
import { newWorker, type RecordedWorker, startWorker, taskOf } from '../worker/start-worker.js'
import { Scheduling, type Tick, tick } from './scheduling.js'

let scheduling: Scheduling

beforeAll(async () => {
  scheduling = await Scheduling.create()
})

beforeEach(() => scheduling.clear())

/** A worker starts at this instant that declares the schedule, as each deploy does. */
async function startWorkerAt(instant: string, timing: { cron: string } | { everyMs: number }): Promise<RecordedWorker> {
  await scheduling.stopClockAt(instant)
  const recorded = newWorker({ connectionString: scheduling.database.url })
  recorded.worker.schedule(tick, { key: 'tick', ...timing }, { note: 'tick' })
  recorded.running = recorded.worker.run()
  await recorded.seen('ready')
  await scheduling.untilWorkerSleeps()
  return recorded
}

async function passTimeTo(instant: string, count: number): Promise<void> {
  await scheduling.stopClockAt(instant)
  await scheduling.wake()
  await waitFor(async () => (await scheduling.enqueued('tick')).length >= count)
}

describe('a worker that is restarted', () => {
  // Case 1: the fault of others from which this began.
  it('within the minute of an occurrence does not enqueue it again', async () => {
    const first = await startWorkerAt('2027-01-01T10:04:50Z', { cron: '* * * * *' })
    await passTimeTo('2027-01-01T10:05:02Z', 1)
    await first.worker.stop()
    await startWorkerAt('2027-01-01T10:05:30Z', { cron: '* * * * *' })
    expect(await scheduling.enqueued('tick')).toEqual(['01-01T10:05 schedule'])
    await passTimeTo('2027-01-01T10:06:00Z', 2)
    expect(await scheduling.enqueued('tick')).toEqual(['01-01T10:05 schedule', '01-01T10:06 schedule'])
  })

  // Case 2.
  it('over an occurrence enqueues it when it is back', async () => {
    const first = await startWorkerAt('2027-01-01T10:05:59.900Z', { cron: '* * * * *' })
    await first.worker.stop()
    await startWorkerAt('2027-01-01T10:06:20Z', { cron: '* * * * *' })
    await waitFor(async () => (await scheduling.enqueued('tick')).length > 0)
    expect(await scheduling.enqueued('tick')).toEqual(['01-01T10:06 schedule'])
    expect(await scheduling.nextAt()).toBe('01-01T10:07')
  })

  // Case 20.
  it('five times in an hour does not start an interval anew', async () => {
    for (const minute of ['00', '10', '20', '30', '40']) {
      const { worker } = await startWorkerAt(`2027-01-01T10:${minute}:00Z`, { everyMs: 3_600_000 })
      await worker.stop()
    }
    expect(await scheduling.enqueued('tick')).toEqual([])
    await startWorkerAt('2027-01-01T10:59:00Z', { everyMs: 3_600_000 })
    await passTimeTo('2027-01-01T11:00:00Z', 1)
    expect(await scheduling.enqueued('tick')).toEqual(['01-01T11:00 schedule'])
    expect(await scheduling.nextAt()).toBe('01-01T12:00')
  })
})

// Case 25.
describe('one task for a time that passed while everything was down', () => {
  it('runs once, at once, however often workers start', async () => {
    await scheduling.startClockAt('2027-01-01T10:00:00Z')
    const id = await tick.enqueue(scheduling.pool, { note: 'one-off', planned_to: new Date('2027-01-01T12:00:00Z') })
    await scheduling.startClockAt('2027-01-02T12:00:00Z')
    let runs = 0
    const once = taskOf<Tick>('tick', () => {
      runs += 1
    })
    for (let start = 1; start <= 3; start += 1) {
      const recorded = await startWorker({ connectionString: scheduling.database.url }, [once, 1])
      const later = await once.enqueue(scheduling.pool, { note: 'marker' })
      await recorded.seen('finished', { where: (task) => task.id === later })
      await recorded.worker.stop()
    }
    expect(runs).toBe(4)
    expect(await scalarOf(scheduling.pool, 'select execution_count from tasks.tick where id = $1', [id])).toBe(1)
  })
})
