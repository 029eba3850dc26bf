import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { endOpenTransactions } from './end-open-transactions.js'
import { moveClock } from './move-clock.js'
import { refusalOf } from './refusal-of.js'
import { rowsOf, scalarOf } from './rows-of.js'
import { waitUntilBlocked } from './wait-until-blocked.js'

const database = await createDatabase()
const session = await database.client()
const first = '66666666-6666-4666-8666-666666666661'
const second = '66666666-6666-4666-8666-666666666662'

beforeAll(() =>
  createTaskType(session, 'mail', {
    columns: 'place integer',
    settings: "timeout => '10 s', max_retries => 2, backoff_base => '1 minute'",
  }),
)

afterEach(async () => {
  await endOpenTransactions(session)
  await moveClock(session, '0')
  await session.query('truncate tasks.mail')
  await session.query('truncate tasks.leases')
  await session.query('reset all')
})

const enqueue = (count: number) =>
  session.query("insert into tasks.mail (place, planned_to) select g, '2020-01-01' from generate_series(1, $1) g", [
    count,
  ])
const acquire = (count: number, worker: string | null = null) =>
  rowsOf(session, 'select id, place, run_token as token from tasks.acquire_tasks_mail($1, $2)', [count, worker])
const rescue = () => scalarOf<string>(session, 'select tasks.rescue_tasks_mail()')
const heartbeat = async (worker: string, runs: ReadonlyArray<{ id?: string; token?: string }> = [], strays = false) =>
  (
    await rowsOf(session, 'select * from tasks.heartbeat_tasks_mail($1, $2, $3, $4)', [
      worker,
      runs.map((run) => run.id),
      runs.map((run) => run.token),
      strays,
    ])
  )[0]
const leases = () =>
  rowsOf(
    session,
    "select worker_id, leased_until > tasks.clock() as living from tasks.leases where table_id = 'tasks.mail'::regclass order by 1",
  )

describe('a lease', () => {
  it('covers all tasks of its worker as long as a heartbeat renews it, without touching their rows', async () => {
    await enqueue(3)
    await acquire(3, first)
    const rows = await rowsOf(session, 'select xmin, ctid, run_worker, run_until from tasks.mail order by id')
    expect(rows.map((row) => [row.run_worker, row.run_until])).toEqual(Array(3).fill([first, null]))
    for (const elapsed of ['8 s', '16 s', '24 s', '32 s']) {
      await moveClock(session, elapsed)
      await heartbeat(first)
      expect(await rescue()).toBe('0')
    }
    expect(await rowsOf(session, 'select xmin, ctid, run_worker, run_until from tasks.mail order by id')).toEqual(rows)
    await moveClock(session, '43 s')
    expect(await rescue()).toBe('3')
    expect(await leases()).toEqual([])
  })

  it('is one per worker and type, and another worker in its place is no cover', async () => {
    await enqueue(2)
    await acquire(1, first)
    await moveClock(session, '5 s')
    await acquire(1, second)
    expect(await leases()).toEqual([
      { worker_id: first, living: true },
      { worker_id: second, living: true },
    ])
    await moveClock(session, '12 s')
    expect(await rescue()).toBe('1')
    expect(await rowsOf(session, 'select place, started_at is null as waits from tasks.mail order by 1')).toEqual([
      { place: 1, waits: true },
      { place: 2, waits: false },
    ])
    expect(await leases()).toEqual([{ worker_id: second, living: true }])
  })

  it('that ended and was not rescued is renewed by a heartbeat, and by an acquire', async () => {
    await enqueue(3)
    const runs = await acquire(1, first)
    await moveClock(session, '1 hour')
    expect(await heartbeat(first, runs)).toMatchObject({ gone_ids: null })
    expect(await rescue()).toBe('0')
    await moveClock(session, '2 hours')
    await acquire(1, first)
    expect(await rescue()).toBe('0')
    expect(await leases()).toEqual([{ worker_id: first, living: true }])
  })

  it('that is missing covers nothing', async () => {
    await enqueue(1)
    await acquire(1, first)
    await session.query('delete from tasks.leases')
    expect(await rescue()).toBe('1')
  })

  it('of a worker with nothing left goes with the next rescue', async () => {
    await enqueue(1)
    const [run] = await acquire(1, first)
    await session.query('select tasks.finish_tasks_mail($1)', [run?.id])
    await moveClock(session, '1 minute')
    expect(await rescue()).toBe('0')
    expect(await leases()).toEqual([])
  })

  it('is being used by an acquire that has not committed: no rescue judges it meanwhile', async () => {
    await enqueue(2)
    await acquire(1, first)
    const other = await database.client()
    await other.query('begin')
    await other.query('select * from tasks.acquire_tasks_mail(1, $1)', [first])
    await moveClock(session, '1 minute')
    expect(await rescue()).toBe('0')
    await other.query('commit')
    expect(await rescue()).toBe('2')
  })

  it('is taken with its tasks in one transaction: a heartbeat comes before or after, never between', async () => {
    await enqueue(2)
    const runs = await acquire(2, first)
    await moveClock(session, '1 minute')
    const other = await database.client()
    await other.query('begin')
    expect(await scalarOf(other, 'select tasks.rescue_tasks_mail()')).toBe('2')
    const late = heartbeat(first, runs)
    await waitUntilBlocked(database.pool, session)
    await other.query('commit')
    expect(await late).toMatchObject({ gone_ids: runs.map((run) => run.id), gone_reasons: ['lost', 'lost'] })
  })

  it('of an open-ended type has no end', async () => {
    await session.query("select tasks.configure('tasks', 'mail', 'timeout', null)")
    await enqueue(2)
    await acquire(1, first)
    await acquire(1)
    expect(await scalarOf(session, 'select leased_until::text from tasks.leases')).toBe('infinity')
    await moveClock(session, '10 years')
    expect(await rescue()).toBe('0')
    expect(await rowsOf(session, 'select rescue_in from tasks.next_due_tasks_mail()')).toEqual([{ rescue_in: null }])
    await session.query("select tasks.configure('tasks', 'mail', 'timeout', '10 s')")
  })

  // The way out for what was acquired before the owner set a timeout.
  it.each([
    ['configure', "select tasks.configure('tasks', 'mail', 'timeout', '10 s')"],
    [
      'register',
      "select tasks.register('tasks', 'mail', timeout => '10 s', max_retries => 2, backoff_base => '1 minute')",
    ],
  ])('of an open-ended type gets an end, a minute at least, when %s gives the type a timeout', async (_, statement) => {
    await session.query("select tasks.configure('tasks', 'mail', 'timeout', null)")
    await enqueue(3)
    await acquire(1, first)
    await acquire(1)
    await acquire(1, second)
    await session.query(statement)
    await moveClock(session, '59 s')
    expect(await rescue()).toBe('0')
    await heartbeat(second)
    await moveClock(session, '61 s')
    expect(await rescue()).toBe('2')
    expect(await scalarOf(session, 'select place from tasks.mail where started_at is not null')).toBe(3)
  })
})

describe('rescue', () => {
  it('brings a task back once at its old place, then after a backoff, then fails it as lost (B-42)', async () => {
    await enqueue(1)
    const columns = () =>
      rowsOf(
        session,
        "select execution_count, lost_count, planned_to = '2020-01-01' as old_place, failure_reason, last_error, run_token, run_worker, run_until from tasks.mail",
      )
    const gone = { run_token: null, run_worker: null, run_until: null }
    await acquire(1)
    await moveClock(session, '11 s')
    expect(await rescue()).toBe('1')
    expect(await columns()).toEqual([
      {
        ...gone,
        execution_count: 1,
        lost_count: 1,
        old_place: true,
        failure_reason: null,
        last_error: 'lease ended without an outcome (execution 1)',
      },
    ])
    await acquire(1)
    await moveClock(session, '22 s')
    expect(await rescue()).toBe('1')
    expect(await columns()).toMatchObject([{ execution_count: 2, lost_count: 2, old_place: false }])
    const wait = await scalarOf<number>(
      session,
      'select extract(epoch from planned_to - tasks.clock())::float8 from tasks.mail',
    )
    expect(wait).toBeGreaterThan(47)
    expect(wait).toBeLessThanOrEqual(72)
    expect(await acquire(1)).toEqual([])
    await moveClock(session, '2 minutes')
    expect(await acquire(1)).toHaveLength(1)
    await moveClock(session, '3 minutes')
    expect(await rescue()).toBe('1')
    expect(await columns()).toMatchObject([
      {
        ...gone,
        execution_count: 3,
        lost_count: 3,
        failure_reason: 'lost',
        last_error: 'lease ended without an outcome (execution 3)',
      },
    ])
    expect(await rowsOf(session, 'select failed from tasks.stats_of_tasks_mail')).toEqual([{ failed: '1' }])
  })

  it('is part of every acquire without a worker, and of none with one', async () => {
    await enqueue(1)
    await acquire(1, first)
    await moveClock(session, '1 minute')
    expect(await acquire(1, second)).toEqual([])
    expect(await acquire(1)).toHaveLength(1)
  })

  it('takes thousands', async () => {
    await enqueue(2_500)
    expect(await acquire(10_000, first)).toHaveLength(2_500)
    await moveClock(session, '1 minute')
    expect(await rescue()).toBe('2500')
    expect(await rescue()).toBe('0')
  })

  it('notifies at commit, so that workers look', async () => {
    const listener = await database.client()
    const heard: string[] = []
    listener.on('notification', (notification) => heard.push(`${notification.channel} ${notification.payload}`))
    await listener.query('listen pg_tasks')
    await enqueue(1)
    await acquire(1)
    await listener.query('select')
    heard.length = 0
    await moveClock(session, '1 minute')
    await rescue()
    await listener.query('select')
    expect(heard).toEqual(['pg_tasks tasks.mail'])
    await listener.end()
  })

  it('leaves tasks that have ended, are locked or whose lease lives', async () => {
    await enqueue(4)
    const runs = await acquire(4)
    await session.query('select tasks.finish_tasks_mail($1)', [runs[0]?.id])
    await session.query('select tasks.cancel_tasks_mail($1)', [runs[1]?.id])
    const other = await database.client()
    await other.query('begin')
    await other.query('select from tasks.mail where id = $1 for update', [runs[2]?.id])
    expect(await rescue()).toBe('0')
    await moveClock(session, '1 minute')
    expect(await rescue()).toBe('1')
    await other.query('rollback')
    expect(await rescue()).toBe('1')
  })
})

describe('heartbeat', () => {
  it('names the runs that are no longer the worker`s, with the reason', async () => {
    await enqueue(6)
    const runs = await acquire(6, first)
    await session.query('select tasks.finish_tasks_mail($1)', [runs[0]?.id])
    await session.query('select tasks.cancel_tasks_mail($1)', [runs[1]?.id])
    await session.query('select tasks.reset_tasks_mail($1)', [runs[2]?.id])
    await session.query('delete from tasks.mail where id = $1', [runs[3]?.id])
    await session.query('update tasks.mail set run_token = gen_random_uuid() where id = $1', [runs[4]?.id])
    const beat = await heartbeat(first, runs)
    const reasons = Object.fromEntries(
      beat?.gone_ids.map((id: string, index: number) => [id, beat.gone_reasons[index]]),
    )
    expect(reasons).toEqual({
      [runs[0]?.id]: 'finished',
      [runs[1]?.id]: 'canceled',
      [runs[2]?.id]: 'reset',
      [runs[3]?.id]: 'missing',
      [runs[4]?.id]: 'lost',
    })
  })

  it('says whether leases of others have ended and whether a suspect waits', async () => {
    await enqueue(2)
    expect(await heartbeat(first)).toMatchObject({ rescue_due: false, suspect_due: false })
    await acquire(1, second)
    await moveClock(session, '1 minute')
    expect(await heartbeat(first)).toMatchObject({ rescue_due: true })
    await rescue()
    await acquire(1)
    await session.query('update tasks.mail set lost_count = 2 where started_at is null')
    await moveClock(session, '2 minutes')
    expect(await heartbeat(first)).toMatchObject({ rescue_due: true, suspect_due: true })
  })

  it('finds runs of the worker that it does not know, once half the lease has passed', async () => {
    await enqueue(2)
    const runs = await acquire(2, first)
    expect(await heartbeat(first, runs.slice(1), true)).toMatchObject({ stray_ids: null })
    await moveClock(session, '6 s')
    expect(await heartbeat(first, runs.slice(1), false)).toMatchObject({ stray_ids: null })
    expect(await heartbeat(first, runs.slice(1), true)).toMatchObject({
      stray_ids: [runs[0]?.id],
      stray_tokens: [runs[0]?.token],
    })
    expect(await heartbeat(first, runs, true)).toMatchObject({ stray_ids: null })
  })

  it('refuses a missing worker and arrays that are no pairs', async () => {
    expect(
      (await refusalOf(session.query("select * from tasks.heartbeat_tasks_mail(null, '{}', '{}')"))).message,
    ).toContain('worker_id')
    const error = await refusalOf(session.query("select * from tasks.heartbeat_tasks_mail($1, '{1}', '{}')", [first]))
    expect(error).toMatchObject({
      code: 'TQ003',
      message: 'heartbeat: task_ids and run_tokens must be arrays of the same length',
    })
  })

  it('updates its lease in place, so that a thousand renewals leave the index as it was', async () => {
    await session.query('vacuum tasks.leases')
    await heartbeat(first)
    const size = () => scalarOf(session, "select pg_relation_size('tasks.leases_pkey')")
    const before = await size()
    for (let beat = 0; beat < 300; beat += 1) await heartbeat(first)
    expect(await size()).toBe(before)
  })
})

it('says when the next lease of somebody else ends', async () => {
  const rescueIn = (worker: string | null) =>
    scalarOf<number | null>(session, 'select rescue_in from tasks.next_due_tasks_mail($1)', [worker])
  await enqueue(2)
  expect(await rescueIn(null)).toBeNull()
  await acquire(1, first)
  expect(await rescueIn(first)).toBeNull()
  expect(await rescueIn(second)).toBeGreaterThan(9_000)
  await moveClock(session, '-5 s')
  await acquire(1)
  await moveClock(session, '0')
  expect(await rescueIn(first)).toBeLessThan(5_100)
  await moveClock(session, '1 hour')
  expect(await rescueIn(first)).toBe(0)
})
