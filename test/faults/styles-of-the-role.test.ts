import type { Claimed } from '@pg-tasks/client'
import { expect, it } from 'vitest'
import { newWorker, startWorker, taskOf } from '../integration/worker/start-worker.js'
import { createTaskType } from '../support/task-type.js'
import { createDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'

const database = await createDatabase()

const SETTINGS = [
  "datestyle = 'German, DMY'",
  "intervalstyle = 'sql_standard'",
  'extra_float_digits = 0',
  'row_security = off',
  "timezone = 'Asia/Kolkata'",
  'bytea_output = escape',
  'standard_conforming_strings = off',
  "search_path = ''",
]

it('a worker reads dates and numbers in full, and sees to schedules, whatever its role sets', async () => {
  await createTaskType(database.pool, 'styled', { columns: 'ratio float8, at timestamptz, of text' })
  const role = await database.createRole('worker')
  await database.pool.query("select tasks.grant_to($1, 'worker', 'tasks', 'styled')", [role.name])
  for (const setting of SETTINGS) await database.pool.query(`alter role ${role.name} set ${setting}`)
  await database.pool.query(`
    insert into tasks.styled (of, ratio, at) values ('hand', 0.1::float8 + 0.2::float8, '2026-02-03 04:05:06.789Z');
    select tasks.schedule('each second', 'tasks', 'styled', cron => '* * * * * *', timezone => 'Europe/Berlin', columns => '{"of": "cron"}')`)
  const runs: Array<Claimed<{ ratio: number; at: Date; of: string }>> = []
  const task = taskOf<{ ratio: number; at: Date; of: string }>('styled', async (claimed) => runs.push(claimed))
  const worker = await startWorker({ connectionString: role.url }, [task, 5])
  await waitFor(() => runs.some(({ of }) => of === 'hand') && runs.some(({ of }) => of === 'cron'), {
    timeoutMs: 15_000,
  })
  expect(runs.find(({ of }) => of === 'hand')).toMatchObject({
    ratio: 0.1 + 0.2,
    at: new Date('2026-02-03T04:05:06.789Z'),
    created_at: expect.any(Date),
    planned_to: expect.any(Date),
  })
  expect(worker.of('error')).toEqual([])
})

it('a worker whose role only reads by default says which setting that is', async () => {
  const role = await database.createRole('reader')
  await database.pool.query(`alter role ${role.name} set default_transaction_read_only = on`)
  const worker = newWorker({ connectionString: role.url }, [taskOf('styled', async () => {}), 1])
  worker.running = worker.worker.run()
  const told = () => worker.lines.some(({ fields }) => JSON.stringify(fields).includes('default_transaction_read_only'))
  await waitFor(told, { timeoutMs: 15_000 })
})
