import { beforeEach, expect, it } from 'vitest'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { spawnScript, type WorkerProcess } from '../../support/worker-process.js'

let database: TestDatabase

beforeEach(async () => {
  database = await createDatabase()
  await createTaskType(database.pool, 'tick', { columns: 'note text' })
  await database.pool.query(
    `create table test_clock (at timestamptz not null);
     insert into test_clock values ('2027-01-01 10:04:50+00');
     create or replace function tasks.clock() returns timestamptz language sql volatile as 'select at from public.test_clock'`,
  )
})

async function passTimeTo(time: string): Promise<void> {
  await database.pool.query('update test_clock set at = $1', [new Date(`2027-01-01T${time}Z`)])
  await database.pool.query(`notify pg_tasks_control, 'schedules'`)
}

/** A deploy: the process declares the schedule at its start. Ready means that it has written it; the probe, that it has looked. */
async function startScheduler(timing: Record<string, string>): Promise<WorkerProcess> {
  const scheduler = spawnScript(new URL('./workers/run-scheduler.ts', import.meta.url), {
    env: { DATABASE_URL: database.url, KEY: 'tick', ...timing },
  })
  await scheduler.line('ready', { timeoutMs: 60_000 })
  await database.pool.query(`select tasks.schedule('probe', 'tasks', 'tick', cron => '@yearly')`)
  const state = `select tasks.schedule_state(s) as state from tasks.schedules s where key = 'probe'`
  await waitFor(async () => (await database.pool.query(state)).rows[0].state === 'active', { timeoutMs: 20_000 })
  await database.pool.query(`select tasks.unschedule('probe')`)
  return scheduler
}

async function tasks(): Promise<string[]> {
  const { rows } = await database.pool.query<{ at: string }>(
    `select to_char(occurrence_at at time zone 'UTC', 'HH24:MI:SS') as at from tasks.tick order by id`,
  )
  return rows.map(({ at }) => at)
}

// Case 1: taskiq sends the task of 10:05 once more when its scheduler is restarted within that minute.
it.each(['SIGTERM', 'SIGKILL'] as const)(
  'a scheduler restarted by %s within the minute does not send the task twice',
  {
    timeout: 120_000,
  },
  async (signal) => {
    const first = await startScheduler({ CRON: '* * * * *' })
    await passTimeTo('10:05:02')
    await waitFor(async () => (await tasks()).length === 1, { timeoutMs: 20_000 })
    await first.kill(signal)
    await passTimeTo('10:05:30')
    const second = await startScheduler({ CRON: '* * * * *' })
    expect(await tasks()).toEqual(['10:05:00'])
    // Stopped just before an occurrence and started after it: taskiq's --skip-first-run misses this one.
    await passTimeTo('10:05:59.9')
    await second.kill(signal)
    await passTimeTo('10:06:20')
    await startScheduler({ CRON: '* * * * *' })
    await waitFor(async () => (await tasks()).length === 2, { timeoutMs: 20_000 })
    expect(await tasks()).toEqual(['10:05:00', '10:06:00'])
  },
)

// Case 20: taskiq's interval fires at every start.
it('an hourly interval does not fire at each start', { timeout: 120_000 }, async () => {
  for (const time of ['10:04:50', '10:10:00', '10:20:00']) {
    await passTimeTo(time)
    const scheduler = await startScheduler({ EVERY_MS: '3600000' })
    await scheduler.kill()
  }
  expect(await tasks()).toEqual([])
  await passTimeTo('11:04:50')
  await startScheduler({ EVERY_MS: '3600000' })
  await waitFor(async () => (await tasks()).length > 0, { timeoutMs: 20_000 })
  expect(await tasks()).toEqual(['11:04:50'])
})
