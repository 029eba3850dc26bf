import { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createDatabase, type TestRole } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { moveClock } from './move-clock.js'
import { rowsOf, scalarOf } from './rows-of.js'

// A type with every feature on: what hangs on a run must not ask for more than its worker or operator has.
const database = await createDatabase()
const owner = await database.client()
const roles: TestRole[] = []
const clients: Client[] = []

async function connectAs(kind: string): Promise<Client> {
  const role = await database.createRole(kind)
  roles.push(role)
  for (const table of ['mail', 'done'])
    await owner.query('select tasks.grant_to($1, $2, $3, $4)', [role.name, kind, 'tasks', table])
  const client = new Client({ connectionString: role.url, application_name: 'test client' })
  clients.push(client)
  await client.connect()
  return client
}

beforeAll(async () => {
  await createTaskType(owner, 'dead', { columns: 'failed_table text, failed_id bigint' })
  await createTaskType(owner, 'done')
  await createTaskType(owner, 'mail', { columns: 'customer integer', settings: "timeout => '10 s', max_retries => 0" })
  await owner.query(
    "select tasks.limit_concurrency('tasks', 'mail', 100), tasks.limit_rate('tasks', 'mail', 1000, '1 s', 100), tasks.limit_keys('tasks', 'mail', '{customer}', 2)",
  )
  await owner.query(
    "select tasks.keep_history('tasks', 'mail'), tasks.use_groups('tasks', 'mail'), tasks.set_on_failure('tasks', 'mail', 'tasks.dead')",
  )
  await owner.query("select tasks.schedule('nightly', 'tasks', 'mail', cron => '0 3 * * *')")
  await owner.query('revoke execute on all functions in schema tasks from public')
})

afterAll(async () => {
  for (const client of clients) await client.end()
  for (const role of roles) await owner.query(`drop owned by "${role.name}"`)
})

async function enqueue(group: string, count: number): Promise<void> {
  await owner.query('begin')
  await owner.query("select tasks.create_group($1, 'tasks', 'done')", [group])
  await owner.query(
    "insert into tasks.mail (group_key, customer, planned_to) select $1, g / 3, '2020-01-01' from generate_series(1, $2) g",
    [group, count],
  )
  await owner.query('commit')
}

it('a worker finishes, fails, cancels and loses tasks, with marks, history, keys, limits and groups', async () => {
  const worker = await connectAs('worker')
  await enqueue('by worker', 6)
  const id = await scalarOf<string>(worker, 'select gen_random_uuid()')
  const table = await scalarOf(worker, "select 'tasks.mail'::regclass::oid")
  const runs: Array<{ id: string; token: string }> = []
  for (let look = 0; look < 5 && runs.length < 6; look += 1) {
    const taken = (await rowsOf(worker, 'select id, run_token as token from tasks.acquire_tasks_mail(10, $1)', [
      id,
    ])) as typeof runs
    for (const run of taken) {
      await worker.query("select * from tasks.begin_step($1, $2, $3, 'one')", [table, run.id, run.token])
      await worker.query("select tasks.mark_step($1, $2, $3, 'one', '1')", [table, run.id, run.token])
      const call = [
        'select tasks.finish_tasks_mail($1, run_token => $2)',
        "select tasks.retry_tasks_mail($1, run_token => $2, error => 'boom')",
        'select tasks.cancel_tasks_mail($1, run_token => $2)',
        'select * from tasks.finish_many_tasks_mail(array[$1]::bigint[], array[$2]::uuid[])',
      ][runs.length]
      if (call !== undefined) await worker.query(call, [run.id, run.token])
      runs.push(run)
    }
  }
  expect(runs).toHaveLength(6)
  await moveClock(owner, '1 minute')
  expect(await scalarOf(worker, 'select tasks.rescue_tasks_mail()')).toBe('2')
  expect(
    await rowsOf(
      owner,
      "select finished, failed, canceled, ended_at is not null as ended from tasks.groups where key = 'by worker'",
    ),
  ).toEqual([{ finished: '2', failed: '3', canceled: '1', ended: true }])
  expect(await scalarOf(owner, 'select count(*) from tasks.dead')).toBe('3')
  expect(await scalarOf(owner, 'select count(*) from tasks.attempts')).toBe('6')
  await worker.query("select tasks.clean_tasks_mail('0', '{finished,failed,canceled}')")
  await worker.query('select * from tasks.maintain()')
  await worker.query('select * from tasks.due_schedules()')
  await moveClock(owner, '0')
})

it('an operator ends and resets tasks of such a type', async () => {
  const operator = await connectAs('operator')
  await enqueue('by operator', 4)
  const runs: Array<{ id: string }> = []
  for (let look = 0; look < 5 && runs.length < 4; look += 1) {
    for (const run of await rowsOf<{ id: string }>(owner, 'select id from tasks.acquire_tasks_mail(10)')) {
      const verb = ['finish', 'retry', 'cancel', 'reset'][runs.length]
      await operator.query(`select tasks.${verb}_tasks_mail($1)`, [run.id])
      runs.push(run)
    }
  }
  expect(runs).toHaveLength(4)
  expect(await rowsOf(owner, "select finished, failed, canceled from tasks.groups where key = 'by operator'")).toEqual([
    { finished: '1', failed: '1', canceled: '1' },
  ])
  expect(await scalarOf(operator, "select tasks.reset_failed('tasks.mail')")).toBe('1')
  await operator.query("select * from tasks.failed_tasks('tasks.mail')")
  await operator.query("select tasks.clean_tasks_mail('0', '{finished,canceled}')")
})

it('a reader sees schedules, history and groups', async () => {
  const reader = await connectAs('reader')
  await reader.query(
    'select * from tasks.schedules; select * from tasks.occurrences; select * from tasks.schedule_stats',
  )
  await reader.query('select * from tasks.attempts; select * from tasks.groups; select * from tasks.stats')
})
