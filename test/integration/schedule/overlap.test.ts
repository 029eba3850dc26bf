import { triggerSchedule } from '@pg-tasks/client'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rowsOf, scalarOf } from '../sql/rows-of.js'
import { Scheduling } from './scheduling.js'

let scheduling: Scheduling

beforeAll(async () => {
  scheduling = await Scheduling.create()
})

beforeEach(async () => {
  await scheduling.clear()
  await scheduling.stopClockAt('2027-01-01T17:59:30Z')
})

/** A worker takes a task that is due, and doesn't end it. */
async function acquire(): Promise<string> {
  const [row] = await rowsOf<{ id: string }>(scheduling.pool, 'select id::text from tasks.acquire_tasks_tick(1)')
  if (row === undefined) throw new Error('No task was due.')
  return row.id
}

async function finish(id: string): Promise<void> {
  await scheduling.pool.query('select tasks.finish_tasks_tick($1)', [id])
}

async function outcomes(): Promise<string[]> {
  return (await scheduling.occurrences()).map(({ at, outcome }) => `${at.slice(6)} ${outcome}`)
}

// Case 17.
describe('while a task of the schedule runs', () => {
  it('skip passes the occurrences by, says so, and goes on when it has ended', async () => {
    await scheduling.schedule({ cron: '* * * * *', overlap: 'skip' })
    await scheduling.passAt('2027-01-01T18:00:00Z')
    const id = await acquire()
    await scheduling.passAt('2027-01-01T18:01:00Z')
    await finish(id)
    await scheduling.passAt('2027-01-01T18:02:00Z')
    expect(await outcomes()).toEqual(['18:00 enqueued', '18:01 skipped_overlap', '18:02 enqueued'])
  })

  it('buffer_one keeps one that waits', async () => {
    await scheduling.schedule({ cron: '* * * * *', overlap: 'buffer_one' })
    await scheduling.passAt('2027-01-01T18:00:00Z')
    const id = await acquire()
    for (const minute of ['01', '02', '03']) await scheduling.passAt(`2027-01-01T18:${minute}:00Z`)
    await finish(id)
    expect(await acquire()).not.toBe(id)
    await scheduling.passAt('2027-01-01T18:04:00Z')
    expect(await outcomes()).toEqual([
      '18:00 enqueued',
      '18:01 enqueued',
      '18:02 skipped_overlap',
      '18:03 skipped_overlap',
      '18:04 enqueued',
    ])
  })

  it('allow enqueues another', async () => {
    await scheduling.schedule({ cron: '* * * * *' })
    await scheduling.passAt('2027-01-01T18:00:00Z')
    await acquire()
    await scheduling.passAt('2027-01-01T18:01:00Z')
    expect(await outcomes()).toEqual(['18:00 enqueued', '18:01 enqueued'])
  })
})

describe.each(['skip', 'buffer_one'] as const)('%s', (overlap) => {
  it('counts a task that waits, also for its retry', async () => {
    await scheduling.schedule({ cron: '* * * * *', overlap })
    await scheduling.passAt('2027-01-01T18:00:00Z')
    await scheduling.passAt('2027-01-01T18:01:00Z')
    const id = await acquire()
    await scheduling.pool.query(`select tasks.retry_tasks_tick($1, delay => '1 hour')`, [id])
    await scheduling.passAt('2027-01-01T18:02:00Z')
    expect(await outcomes()).toEqual(['18:00 enqueued', '18:01 skipped_overlap', '18:02 skipped_overlap'])
  })

  it('enqueues one of a backlog', async () => {
    await scheduling.schedule({ cron: '* * * * *', overlap, catchUp: 'all' })
    await scheduling.passAt('2027-01-01T18:03:00Z')
    expect(await outcomes()).toEqual([
      '18:00 enqueued',
      '18:01 skipped_overlap',
      '18:02 skipped_overlap',
      '18:03 skipped_overlap',
    ])
  })

  it.each([
    { name: 'canceled', end: 'select tasks.cancel_tasks_tick($1)' },
    { name: 'cleaned', end: 'delete from tasks.tick where id = $1' },
    { name: 'failed', end: 'update tasks.tick set failed_at = now() where id = $1' },
  ])('goes on when the task was $name', async ({ end }) => {
    await scheduling.schedule({ cron: '* * * * *', overlap })
    await scheduling.passAt('2027-01-01T18:00:00Z')
    await scheduling.pool.query(end, [await scalarOf(scheduling.pool, 'select id from tasks.tick')])
    await scheduling.passAt('2027-01-01T18:01:00Z')
    const { rows } = await scheduling.pool.query('select outcome from tasks.occurrences order by occurrence_at')
    expect(rows).toEqual([{ outcome: 'enqueued' }, { outcome: 'enqueued' }])
  })

  it('goes on when the table was dropped and made anew', async () => {
    await scheduling.pool.query(
      `create table tasks.tock (like tasks.template including defaults including identity including indexes);
       select tasks.register('tasks', 'tock');
       select tasks.schedule('tock', 'tasks', 'tock', every => '1 min', overlap => '${overlap}')`,
    )
    await scheduling.passAt('2027-01-01T18:00:30Z')
    expect(await scalarOf(scheduling.pool, 'select count(*)::int from tasks.tock')).toBe(1)
    await scheduling.pool.query(
      `drop table tasks.tock cascade;
       create table tasks.tock (like tasks.template including defaults including identity including indexes);
       select tasks.register('tasks', 'tock');
       select tasks.schedule('tock', 'tasks', 'tock', every => '1 min', overlap => '${overlap}')`,
    )
    await scheduling.passAt('2027-01-01T18:01:30Z')
    expect(await scalarOf(scheduling.pool, 'select count(*)::int from tasks.tock')).toBe(1)
    await scheduling.pool.query('drop table tasks.tock cascade')
  })

  it('counts what was enqueued by hand, but never holds that back', async () => {
    await scheduling.schedule({ cron: '* * * * *', overlap })
    await triggerSchedule(scheduling.pool, 'tick')
    await triggerSchedule(scheduling.pool, 'tick')
    await scheduling.passAt('2027-01-01T18:00:00Z')
    expect(await scalarOf(scheduling.pool, 'select count(*)::int from tasks.tick')).toBe(2)
    expect((await outcomes()).at(-1)).toBe('18:00 skipped_overlap')
  })

  it('counts unfinished tasks from before it was chosen', async () => {
    await scheduling.schedule({ cron: '* * * * *' })
    await scheduling.passAt('2027-01-01T18:00:00Z')
    await scheduling.schedule({ cron: '* * * * *', overlap })
    await scheduling.passAt('2027-01-01T18:01:00Z')
    expect(await outcomes()).toEqual(['18:00 enqueued', '18:01 skipped_overlap'])
  })

  it('counts unfinished tasks from before the schedule was removed and written again', async () => {
    await scheduling.schedule({ cron: '* * * * *', overlap })
    await scheduling.passAt('2027-01-01T18:00:00Z')
    await scheduling.pool.query(`select tasks.unschedule('tick')`)
    await scheduling.schedule({ cron: '* * * * *', overlap })
    await scheduling.passAt('2027-01-01T18:01:00Z')
    expect(await outcomes()).toEqual(['18:00 enqueued', '18:01 skipped_overlap'])
  })

  it('looks at no task twice that has ended', async () => {
    await scheduling.schedule({ cron: '* * * * *', overlap })
    for (let minute = 0; minute < 5; minute += 1) {
      await scheduling.passAt(`2027-01-01T18:0${minute}:00Z`)
      await finish(await acquire())
    }
    expect(await scalarOf(scheduling.pool, 'select count(*)::int from tasks.occurrences where watched')).toBe(1)
  })
})

describe('the history of a schedule with an overlap rule', () => {
  it('can be cleaned when the schedule is gone or allows overlap, and is kept while a task is unfinished', async () => {
    await scheduling.schedule({ key: 'gone', cron: '* * * * *', overlap: 'skip' })
    await scheduling.schedule({ key: 'allows', cron: '* * * * *', overlap: 'skip' })
    await scheduling.schedule({ key: 'skips', cron: '* * * * *', overlap: 'skip' })
    await scheduling.passAt('2027-01-01T18:00:00Z')
    await scheduling.schedule({ key: 'allows', cron: '0 0 1 1 *', overlap: 'allow' })
    await scheduling.schedule({ key: 'skips', cron: '0 0 1 1 *', overlap: 'skip' })
    await scheduling.pool.query(`select tasks.unschedule('gone')`)
    await scheduling.stopClockAt('2027-02-01T00:00:00Z')
    await scheduling.pool.query('select tasks.maintain()')
    expect((await scheduling.occurrences()).map(({ key }) => key)).toEqual(['skips'])
  })
})

describe('a schedule of unique tasks', () => {
  beforeEach(async () => {
    await scheduling.pool.query(`select tasks.unique_while('tasks', 'tick', array['note'])`)
    await scheduling.schedule({ cron: '* * * * *', catchUp: 'all' })
  })

  afterEach(() => scheduling.pool.query(`select tasks.unique_while('tasks', 'tick', null)`))

  it('passes an occurrence by while its like waits, and goes on', async () => {
    await scheduling.passAt('2027-01-01T18:01:00Z')
    await acquire()
    await scheduling.passAt('2027-01-01T18:02:00Z')
    await scheduling.passAt('2027-01-01T18:03:00Z')
    expect(await outcomes()).toEqual(['18:00 enqueued', '18:01 not_taken', '18:02 enqueued', '18:03 not_taken'])
    expect(await scheduling.row()).toMatchObject({ state: 'active', runs: '4' })
  })

  it('says so to who triggers it', async () => {
    const id = await triggerSchedule(scheduling.pool, 'tick', { requestId: 'first' })
    expect(await triggerSchedule(scheduling.pool, 'tick', { requestId: 'second' })).toBeNull()
    expect(await triggerSchedule(scheduling.pool, 'tick', { requestId: 'first' })).toBe(id)
    expect(await triggerSchedule(scheduling.pool, 'tick', { requestId: 'second' })).toBeNull()
  })

  it('is still set aside for another constraint', async () => {
    await scheduling.pool.query('create unique index other on tasks.tick (schedule_key)')
    await scheduling.passAt('2027-01-01T18:00:00Z')
    await acquire()
    await scheduling.passAt('2027-01-01T18:01:00Z')
    expect(await scheduling.row()).toMatchObject({ state: 'paused', last_error: expect.stringContaining('"other"') })
    await scheduling.pool.query('drop index tasks.other')
  })
})
