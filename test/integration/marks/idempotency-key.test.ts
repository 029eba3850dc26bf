import { createHash } from 'node:crypto'
import { Client } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { databaseUrl, quoteIdentifier, uniqueName } from '../../support/names.js'
import { createDatabase } from '../../support/test-database.js'
import { startTestServer } from '../../support/test-server.js'
import { createTaskType } from '../sql/create-task-type.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'
import { type Run, startRun } from '../sql/task-in-state.js'
import { acquireAgain, begin } from './steps-of.js'

const database = await createDatabase()
const { pool } = database

async function keyOf(table: string, run: Run, step = 'send'): Promise<string> {
  return (await begin(pool, table, run, step)).key
}

it('is 32 hexadecimal digits', async () => {
  await createTaskType(pool, 'shape')
  expect(await keyOf('shape', await startRun(pool, 'shape'))).toMatch(/^[0-9a-f]{32}$/)
})

it('is the same at every attempt: after a retry, a release, a rescue and a reset', async () => {
  await createTaskType(pool, 'stable')
  let run = await startRun(pool, 'stable')
  const key = await keyOf('stable', run)
  for (const end of [
    'select tasks.retry_tasks_stable($1, planned_to => now())',
    `update tasks.stable set run_until = '-infinity' where id = $1`,
    'select tasks.reset_tasks_stable($1)',
  ]) {
    await pool.query(end, [run.id])
    run = await acquireAgain(pool, 'stable', run.id)
    expect(await keyOf('stable', run)).toBe(key)
  }
  await pool.query('select tasks.release_tasks_stable($1, $2)', [run.id, run.token])
  expect(await keyOf('stable', await acquireAgain(pool, 'stable', run.id))).toBe(key)
})

it('depends on no setting of the session', async () => {
  await createTaskType(pool, 'settings')
  const run = await startRun(pool, 'settings')
  const key = await keyOf('settings', run)
  const session = await database.client()
  for (const setting of [
    'extra_float_digits = 0',
    `datestyle = 'German'`,
    `timezone = 'Asia/Tokyo'`,
    `bytea_output = 'escape'`,
    `intervalstyle = 'sql_standard'`,
  ]) {
    await session.query(`set ${setting}`)
    expect((await begin(session, 'settings', run)).key, setting).toBe(key)
  }
})

it('is the same again although the first transaction that asked was rolled back', async () => {
  const fresh = await createDatabase()
  await createTaskType(fresh.pool, 'mail')
  const run = await startRun(fresh.pool, 'mail')
  const session = await fresh.client()
  await session.query('begin')
  const { key } = await begin(session, 'mail', run)
  await session.query('rollback')
  expect((await begin(session, 'mail', run)).key).toBe(key)
})

it('differs by step and by task', async () => {
  await createTaskType(pool, 'various')
  const [first, second] = [await startRun(pool, 'various'), await startRun(pool, 'various')]
  const keys = [
    await keyOf('various', first, 'a'),
    await keyOf('various', first, 'b'),
    await keyOf('various', second, 'a'),
    await keyOf('various', second, 'b'),
  ]
  expect(new Set(keys).size).toBe(4)
})

it('differs after TRUNCATE RESTART IDENTITY and where the table is made anew, though the ids are the same', async () => {
  await createTaskType(pool, 'anew')
  const first = await startRun(pool, 'anew')
  const keys = [await keyOf('anew', first)]
  await pool.query('truncate tasks.anew restart identity')
  const second = await startRun(pool, 'anew')
  keys.push(await keyOf('anew', second))
  await pool.query('drop table tasks.anew cascade')
  await createTaskType(pool, 'anew')
  const third = await startRun(pool, 'anew')
  keys.push(await keyOf('anew', third))
  expect([second.id, third.id]).toEqual([first.id, first.id])
  expect(new Set(keys).size).toBe(3)
})

it('differs in a copy of the database on the same server', async () => {
  const original = await createDatabase()
  await createTaskType(original.pool, 'mail')
  const run = await startRun(original.pool, 'mail')
  const { key } = await begin(original.pool, 'mail', run)
  // A template must have no sessions.
  await pool.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1', [original.name])
  const name = uniqueName('pg_tasks_test_copy')
  await pool.query(`create database ${quoteIdentifier(name)} template ${quoteIdentifier(original.name)}`)
  const copy = new Client({ connectionString: databaseUrl(original.url, name) })
  await copy.connect()
  onTestFinished(async () => {
    await copy.end()
    await pool.query(`drop database ${quoteIdentifier(name)}`)
  })

  const copied = await begin(copy, 'mail', run)

  expect(copied.key).toMatch(/^[0-9a-f]{32}$/)
  expect(copied.key).not.toBe(key)
  expect((await begin(copy, 'mail', run)).key).toBe(copied.key)
})

it('differs where tasks, marks and the identity of the installation were copied to another server', async () => {
  const server = await startTestServer()
  const there = await createDatabase({ serverUrl: server.url })
  onTestFinished(async () => {
    await there.drop()
    await server.remove()
  })
  await createTaskType(pool, 'moved')
  await createTaskType(there.pool, 'moved')
  const run = await startRun(pool, 'moved')
  for (const table of ['tasks.moved', 'tasks.installation']) {
    const rows = await scalarOf(pool, `select jsonb_agg(to_jsonb(r)) from ${table} r`)
    await there.pool.query(`delete from ${table}`)
    await there.pool.query(`insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1)`, [
      JSON.stringify(rows),
    ])
  }

  expect((await begin(there.pool, 'moved', run)).key).not.toBe(await keyOf('moved', run))
})

it('is made of installation, server, database, table, task, its created_at, and step', async () => {
  await createTaskType(pool, 'parts')
  const run = await startRun(pool, 'parts')
  const parts = await rowsOf<{ part: string }>(
    pool,
    `select part from unnest(array[
       (select id::text from tasks.installation),
       (select system_identifier::text from pg_control_system()),
       (select oid::text from pg_database where datname = current_database()),
       'tasks.parts'::regclass::oid::text,
       '${run.id}',
       (select extract(epoch from created_at)::text from tasks.parts where id = ${run.id}),
       'send']) part`,
  )
  const hash = createHash('sha256').update(parts.map(({ part }) => part).join(' '))
  expect(await keyOf('parts', run)).toBe(hash.digest('hex').slice(0, 32))
})

it('differs once a copy of the data directory is given an identity of its own', async () => {
  const key = `select tasks.idempotency_key(4711, 1, '2026-01-01', 'send')`
  const before = await scalarOf(pool, key)
  expect(await scalarOf(pool, key)).toBe(before)
  await pool.query('update tasks.installation set id = gen_random_uuid()')
  expect(await scalarOf(pool, key)).not.toBe(before)
})

it('is there where the server keeps its own identity to itself', async () => {
  const fresh = await createDatabase()
  const role = await fresh.createRole('key_reader')
  await fresh.pool.query(`grant usage on schema tasks to ${role.name}`)
  await fresh.pool.query(`grant select on tasks.installation to ${role.name}`)
  await fresh.pool.query('revoke execute on function pg_control_system() from public')
  const client = new Client({ connectionString: role.url })
  await client.connect()
  onTestFinished(() => client.end())
  expect(await scalarOf(client, `select tasks.idempotency_key(1, 1, '2026-01-01', 'send')`)).toMatch(/^[0-9a-f]{32}$/)
})
