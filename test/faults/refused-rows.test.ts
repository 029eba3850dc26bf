import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createTaskType } from '../integration/sql/create-task-type.js'
import { moveClock } from '../integration/sql/move-clock.js'
import { rowsOf, scalarOf } from '../integration/sql/rows-of.js'
import { createDatabase } from '../support/test-database.js'

// Rows that a trigger of the user's doesn't let go, and rows whose executions are used up: never in the way of the others.
const database = await createDatabase()
const session = await database.client()
const warnings: string[] = []
session.on('notice', (notice) => {
  if (notice.severity === 'WARNING' || notice.severity === 'NOTICE') warnings.push(notice.message ?? '')
})

beforeAll(async () => {
  await createTaskType(session, 'mail', { columns: 'place integer', settings: "timeout => '10 s', max_retries => 2" })
  await session.query(`
    create function veto() returns trigger language plpgsql as $$ begin return null; end $$;
    create function refuse() returns trigger language plpgsql as $$ begin raise 'not this one'; end $$`)
})

afterEach(async () => {
  await session.query('drop trigger if exists guard on tasks.mail')
  await moveClock(session, '0')
  await session.query('truncate tasks.mail')
  await session.query('truncate tasks.leases')
  await session.query('reset all')
  warnings.length = 0
})

const enqueue = (count: number, set = "'2020-01-01'") =>
  session.query(`insert into tasks.mail (place, planned_to) select g, ${set} from generate_series(1, $1) g`, [count])
const TRIGGERS = {
  before: 'create trigger guard before update on tasks.mail',
  after: 'create trigger guard after update on tasks.mail',
  deferred: 'create constraint trigger guard after update on tasks.mail deferrable initially deferred',
} as const
const guard = (when: keyof typeof TRIGGERS, condition: string, action: 'veto' | 'refuse') =>
  session.query(`${TRIGGERS[when]} for each row when (${condition}) execute function ${action}()`)
const acquire = async (count: number) =>
  (await rowsOf(session, 'select place from tasks.acquire_tasks_mail($1)', [count])).map((row) => row.place)

describe('acquire', () => {
  // B-33
  it.each(['before', 'after', 'deferred'] as const)(
    'takes the others when a %s trigger raises for one, and warns',
    async (when) => {
      await enqueue(20)
      await guard(when, 'new.place = 7', 'refuse')
      expect(await acquire(20)).toEqual([1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20])
      expect(warnings).toEqual([expect.stringMatching(/^task \d+ of tasks\.mail could not be acquired: not this one$/)])
      expect(await rowsOf(session, 'select started_at, execution_count from tasks.mail where place = 7')).toEqual([
        { started_at: null, execution_count: 0 },
      ])
    },
  )

  it('reaches past more refused rows than it was asked for', async () => {
    await enqueue(70)
    await guard('before', 'new.place <= 65', 'refuse')
    expect(await acquire(1)).toEqual([66])
    expect(await acquire(3)).toEqual([67, 68, 69])
  })

  it('never takes more than it was asked for when it has to reach past some', async () => {
    await enqueue(40)
    await guard('before', 'new.place % 2 = 1', 'refuse')
    expect(await acquire(5)).toEqual([2, 4, 6, 8, 10])
    expect(await scalarOf(session, 'select count(started_at) from tasks.mail')).toBe('5')
  })

  it('reaches past rows that a trigger silently keeps back, and leaves them as they are', async () => {
    await enqueue(60)
    await guard('before', 'new.place <= 50', 'veto')
    expect(await acquire(4)).toEqual([51, 52, 53, 54])
    expect(await acquire(10)).toEqual([55, 56, 57, 58, 59, 60])
    expect(await acquire(10)).toEqual([])
    expect(await scalarOf(session, 'select count(*) from tasks.mail where execution_count = 0')).toBe('50')
  })

  it('gives up after a bounded time when every row is kept back', async () => {
    await enqueue(3_000)
    await guard('before', 'true', 'veto')
    expect(await acquire(1)).toEqual([])
    expect(await acquire(10_000)).toEqual([])
  })

  it('passes the error on that ends the transaction anyway', async () => {
    await session.query(
      "create function serialization() returns trigger language plpgsql as $$ begin raise 'again' using errcode = '40001'; end $$",
    )
    await enqueue(2)
    await session.query(
      'create trigger guard before update on tasks.mail for each row execute function serialization()',
    )
    await expect(acquire(2)).rejects.toMatchObject({ code: '40001' })
  })

  // O-17, B-42
  it('fails the rows with no executions left, however many stand in front, and takes the next', async () => {
    await enqueue(30)
    await session.query('update tasks.mail set execution_count = 3 where place <= 25')
    await session.query("update tasks.mail set lost_count = 1, last_error = 'gone' where place = 25")
    expect(await acquire(2)).toEqual([26, 27])
    expect(
      await rowsOf(
        session,
        `select count(*), failure_reason, last_error, started_at from tasks.mail where failed_at is not null group by 2, 3, 4 order by 1`,
      ),
    ).toEqual([
      { count: '1', failure_reason: 'lost', last_error: 'gone', started_at: null },
      { count: '24', failure_reason: 'error', last_error: 'executions used up: max_retries is 2', started_at: null },
    ])
    expect(await rowsOf(session, 'select failed, ready, running, total from tasks.stats_of_tasks_mail')).toEqual([
      { failed: '25', ready: '3', running: '2', total: '30' },
    ])
  })

  it('warns about a row with no executions left that a trigger keeps from failing, and goes on', async () => {
    await enqueue(3)
    await session.query('update tasks.mail set execution_count = 3 where place <= 2')
    await guard('before', 'new.place = 1', 'refuse')
    expect(await acquire(5)).toEqual([3])
    expect(warnings).toEqual([expect.stringContaining('has no executions left and could not be failed: not this one')])
    expect(await scalarOf(session, 'select place from tasks.mail where failed_at is not null')).toBe(2)
  })
})

describe('a suspect, lost twice or more', () => {
  it('is acquired alone, before the others, and only by a caller whose slots are empty', async () => {
    await enqueue(5)
    await session.query('update tasks.mail set lost_count = 2 where place in (3, 4)')
    expect(await acquire(10)).toEqual([3])
    const busy = 'select place from tasks.acquire_tasks_mail(10, $1, slots_empty => false)'
    expect(await rowsOf(session, busy, ['44444444-4444-4444-8444-444444444444'])).toEqual(
      [1, 2, 5].map((place) => ({ place })),
    )
    expect(await rowsOf(session, busy, ['44444444-4444-4444-8444-444444444444'])).toEqual([])
    expect(await acquire(10)).toEqual([4])
    expect(await acquire(10)).toEqual([])
  })

  it('waits like others until it is due', async () => {
    await enqueue(2)
    await session.query("update tasks.mail set lost_count = 2, planned_to = now() + interval '1 hour' where place = 1")
    expect(await acquire(10)).toEqual([2])
    const [idle] = await rowsOf(session, 'select ready_in > 3000000 as later from tasks.next_due_tasks_mail()')
    expect(idle).toEqual({ later: true })
    expect(await scalarOf(session, 'select ready_in from tasks.next_due_tasks_mail(slots_empty => false)')).toBeNull()
  })

  it('does not keep the next suspect or the others back when a trigger refuses it', async () => {
    await enqueue(4)
    await session.query('update tasks.mail set lost_count = 5 where place <= 2')
    await guard('before', 'new.place = 1', 'refuse')
    expect(await acquire(10)).toEqual([2])
    expect(await acquire(10)).toEqual([3, 4])
  })

  it('fails with the reason lost when its executions are used up', async () => {
    await enqueue(2)
    await session.query('update tasks.mail set lost_count = 3, execution_count = 3 where place = 1')
    expect(await acquire(10)).toEqual([2])
    expect(await scalarOf(session, 'select failure_reason from tasks.mail where place = 1')).toBe('lost')
  })

  it('is no suspect any more once a run of it has ended by itself', async () => {
    await enqueue(1)
    await session.query('update tasks.mail set lost_count = 2')
    expect(await acquire(1)).toEqual([1])
    await session.query('select tasks.retry_tasks_mail(id, planned_to => now()) from tasks.mail')
    expect(await scalarOf(session, 'select lost_count from tasks.mail')).toBe(0)
  })
})

describe('rescue', () => {
  it.each(['before', 'after', 'deferred'] as const)(
    'brings the others back when a %s trigger raises for one, and warns',
    async (when) => {
      await enqueue(10)
      await acquire(10)
      await moveClock(session, '1 minute')
      await guard(when, 'new.place = 4', 'refuse')
      expect(await scalarOf(session, 'select tasks.rescue_tasks_mail()')).toBe('9')
      expect(warnings).toEqual([expect.stringContaining('could not be rescued: not this one')])
    },
  )

  it('comes to an end when a trigger keeps thousands of rows back', async () => {
    await enqueue(2_500)
    await acquire(10_000)
    await moveClock(session, '1 minute')
    await guard('before', 'true', 'veto')
    expect(await scalarOf(session, 'select tasks.rescue_tasks_mail()')).toBe('0')
  })
})

describe('clean', () => {
  it('deletes the others when a trigger refuses or keeps one', async () => {
    await enqueue(10)
    await session.query('update tasks.mail set finished_at = now()')
    await session.query(
      'create trigger guard before delete on tasks.mail for each row when (old.place = 3) execute function refuse()',
    )
    expect(await scalarOf(session, "select tasks.clean_tasks_mail('0')")).toBe('9')
    expect(warnings).toEqual([expect.stringMatching(/^task \d+ of tasks\.mail is kept: not this one$/)])
    await session.query('drop trigger guard on tasks.mail')
    await session.query('create trigger guard before delete on tasks.mail for each row execute function veto()')
    expect(await scalarOf(session, "select tasks.clean_tasks_mail('0')")).toBe('0')
  })
})

describe('an outcome that a trigger keeps back', () => {
  it.each(['finish', 'retry', 'cancel', 'reset'])('%s raises instead of claiming success', async (verb) => {
    await enqueue(1)
    await acquire(1)
    await guard('before', 'true', 'veto')
    await expect(session.query(`select tasks.${verb}_tasks_mail(id) from tasks.mail`)).rejects.toMatchObject({
      code: 'TQ011',
      message: expect.stringMatching(new RegExp(`^${verb}: task \\d+ of tasks\\.mail was kept back by a trigger`)),
    })
  })

  it('release says false', async () => {
    await enqueue(1)
    await acquire(1)
    await guard('before', 'true', 'veto')
    expect(await scalarOf(session, 'select tasks.release_tasks_mail(id, run_token) from tasks.mail')).toBe(false)
  })
})
