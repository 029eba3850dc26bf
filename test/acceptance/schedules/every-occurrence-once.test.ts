import { expect, it } from 'vitest'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { DyingSchedulers } from './dying-schedulers.js'

/** The full minute: `SCHEDULES_SECONDS=60 npx vitest run test/acceptance/schedules`. */
const SECONDS = Number(process.env.SCHEDULES_SECONDS ?? 20)
const SCHEDULES = 1_000
const SCHEDULERS = 8
const KILL_EVERY_MS = 800

it(`${SCHEDULERS} schedulers that are killed again and again make one task of each of ${SCHEDULES} occurrences a second, for ${SECONDS} s`, {
  timeout: 150_000 + SECONDS * 5_000,
}, async () => {
  const database = await createDatabase()
  await createTaskType(database.pool, 'tick', { columns: 'note text' })
  const schedulers = new DyingSchedulers(database.url)
  await schedulers.start(SCHEDULERS)
  // Half of them by cron, in zones; half on a grid.
  await database.pool.query(
    `select tasks.schedule('schedule ' || n, 'tasks', 'tick',
       cron => case when n % 2 = 0 then '* * * * * *' end, every => case when n % 2 = 1 then interval '1 s' end,
       anchor => case when n % 2 = 1 then timestamptz '2026-01-01 00:00+00' end,
       timezone => (array['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'])[1 + n / 2 % 4],
       catch_up => 'all', ends_at => date_trunc('second', clock_timestamp()) + make_interval(secs => $1),
       columns => jsonb_build_object('note', 'schedule ' || n))
     from generate_series(1, $2) n`,
    [SECONDS, SCHEDULES],
  )
  schedulers.killEvery(KILL_EVERY_MS)
  const left = `select count(*)::int as left from tasks.schedules s where tasks.schedule_state(s) <> 'finished'`
  await waitFor(async () => (await database.pool.query(left)).rows[0].left === 0, {
    timeoutMs: 60_000 + SECONDS * 4_000,
    what: 'all schedules to be finished',
  }).finally(() => schedulers.end())

  const { rows: counts } = await database.pool.query(
    `with expected as (
       select s.key, t as at from tasks.schedules s
       cross join generate_series(date_trunc('second', s.created_at) + interval '1 s', s.ends_at, '1 s') t
     ), made as (
       select schedule_key as key, occurrence_at as at, count(*)::int as tasks from tasks.tick group by 1, 2
     )
     select count(*) filter (where made.tasks is null)::int as missing,
       count(*) filter (where made.tasks > 1)::int as twice,
       count(*) filter (where expected.at is null)::int as unexpected,
       coalesce(sum(made.tasks), 0)::int as tasks
     from expected full join made using (key, at)`,
  )
  const { rows: lags } = await database.pool.query(
    `select round(1000 * percentile_cont(0.5) within group (order by lag))::int as "medianMs",
       round(1000 * percentile_cont(0.99) within group (order by lag))::int as "p99Ms", round(1000 * max(lag))::int as "maxMs"
     from (select extract(epoch from created_at - occurrence_at)::float as lag from tasks.occurrences) o`,
  )
  const { kills } = schedulers
  console.info(
    JSON.stringify({
      schedules: SCHEDULES,
      schedulers: SCHEDULERS,
      seconds: SECONDS,
      kills,
      ...counts[0],
      lag: lags[0],
    }),
  )
  expect(counts[0]).toMatchObject({ missing: 0, twice: 0, unexpected: 0 })
  expect(counts[0].tasks).toBeGreaterThan((SCHEDULES * SECONDS) / 2)
  expect(kills).toBeGreaterThan(0)
  const { rows: refused } = await database.pool.query(
    'select key, last_error from tasks.schedules where last_error is not null',
  )
  expect(refused).toEqual([])
})
