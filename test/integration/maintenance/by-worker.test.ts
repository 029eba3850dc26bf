import { expect, it } from 'vitest'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { scalarOf } from '../sql/rows-of.js'
import { newWorker, type RecordedWorker, taskOf } from '../worker/start-worker.js'

/** A machine may be busy with other things. */
const LONG = { timeoutMs: 15_000 }

interface Cleaned {
  readonly what: string
  readonly deleted: number
  readonly kept: number
  readonly reason: string | null
}

interface Cleaning {
  readonly recorded: RecordedWorker
  readonly cleaned: Cleaned[]
}

let database: TestDatabase

async function typeWithOldTasks(count: number): Promise<void> {
  database = await createDatabase()
  await createTaskType(database.pool, 'mail', { storageTime: '1 day' })
  await endedTasks(count)
}

async function endedTasks(count: number): Promise<void> {
  await database.pool.query(
    `insert into tasks.mail (started_at, finished_at)
     select now() - interval '2 days', now() - interval '2 days' from generate_series(1, $1)`,
    [count],
  )
}

function countOf(): Promise<number> {
  return scalarOf(database.pool, 'select count(*)::int from tasks.mail')
}

/** A worker that maintains every few hundred milliseconds. */
async function startCleaning(maintenanceIntervalMs: number | null = 100): Promise<Cleaning> {
  const recorded = newWorker({ connectionString: database.url, maintenanceIntervalMs }, [taskOf<object>('mail'), 1])
  const cleaned: Cleaned[] = []
  recorded.worker.on('cleaned', (rows) => void cleaned.push(rows))
  recorded.running = recorded.worker.run()
  await recorded.seen('ready', { timeoutMs: 20_000 })
  return { recorded, cleaned }
}

it('deletes what is past its time by itself, in batches of a thousand, and tells of each', async () => {
  await typeWithOldTasks(2_500)
  const { cleaned } = await startCleaning()
  await waitFor(async () => (await countOf()) === 0, LONG)
  await waitFor(() => cleaned.length >= 3, LONG)
  expect(cleaned).toEqual(
    [1_000, 1_000, 500].map((deleted) => ({ what: 'tasks.mail', deleted, kept: 0, reason: null })),
  )
})

it('goes on doing so', async () => {
  await typeWithOldTasks(1)
  const { cleaned } = await startCleaning()
  await waitFor(() => cleaned.length === 1, LONG)
  await endedTasks(2)
  await waitFor(() => cleaned.length === 2, LONG)
  expect(cleaned.at(-1)).toMatchObject({ deleted: 2 })
})

it('is left to others where the interval is null', async () => {
  await typeWithOldTasks(1)
  const idle = await startCleaning(null)
  const busy = await startCleaning()
  await waitFor(() => busy.cleaned.length === 1, LONG)
  expect(idle.cleaned).toEqual([])
})

it('says once what it can not delete and why, and again when the reason is another', async () => {
  await typeWithOldTasks(3)
  await database.pool.query('create table public.audit (task_id bigint references tasks.mail)')
  await database.pool.query('insert into public.audit select min(id) from tasks.mail')
  const { recorded, cleaned } = await startCleaning()
  await waitFor(() => cleaned.length >= 4, LONG)
  const warnings = () =>
    recorded.lines.filter(({ message }) => message === 'Tasks past their storage_time can not be deleted')
  expect(warnings()).toEqual([
    {
      level: 'warn',
      message: expect.any(String),
      fields: { what: 'tasks.mail', kept: 1, reason: expect.stringContaining('audit_task_id_fkey') },
    },
  ])
  expect(cleaned[0]).toMatchObject({ deleted: 2, kept: 1, reason: expect.stringContaining('audit') })
  await database.pool.query('alter table public.audit rename constraint audit_task_id_fkey to protocol')
  await waitFor(() => warnings().length === 2, LONG)
})

it('is done by one worker at a time', async () => {
  await typeWithOldTasks(20)
  // Slow enough for the others to come by.
  await database.pool.query(`create table public.overlaps (pid int, began timestamptz, ended timestamptz)`)
  await database.pool.query(
    `create function public.slow() returns trigger language plpgsql as $$
     declare v_began timestamptz := clock_timestamp();
     begin
       perform pg_sleep(0.02);
       insert into public.overlaps values (pg_backend_pid(), v_began, clock_timestamp());
       return old;
     end $$`,
  )
  await database.pool.query(
    'create trigger slow before delete on tasks.mail for each row execute function public.slow()',
  )
  const workers = [await startCleaning(), await startCleaning(), await startCleaning()]
  await waitFor(async () => (await countOf()) === 0, LONG)
  await endedTasks(20)
  await waitFor(async () => (await countOf()) === 0, LONG)
  const overlapping = await scalarOf(
    database.pool,
    `select count(*)::int from public.overlaps a join public.overlaps b on a.pid < b.pid and a.began < b.ended and b.began < a.ended`,
  )
  expect(overlapping).toBe(0)
  await waitFor(
    () => workers.flatMap(({ cleaned }) => cleaned).reduce((sum, { deleted }) => sum + deleted, 0) === 40,
    LONG,
  )
  for (const { recorded } of workers) expect(recorded.lines.filter(({ level }) => level !== 'info')).toEqual([])
})

it('stops with the worker, in the middle of a slow call', async () => {
  await typeWithOldTasks(5)
  await database.pool.query(
    `create function public.slow() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return old; end $$`,
  )
  await database.pool.query(
    'create trigger slow before delete on tasks.mail for each row execute function public.slow()',
  )
  const { recorded } = await startCleaning()
  await waitFor(async () => {
    const { rowCount } = await database.pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
    )
    return rowCount === 1
  })
  const startedAt = performance.now()
  await recorded.worker.stop({ timeoutMs: 0 })
  expect(performance.now() - startedAt).toBeLessThan(15_000)
  // The call is undone, and its session gone.
  expect(await countOf()).toBe(5)
})
