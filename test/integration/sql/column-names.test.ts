import { expect, it } from 'vitest'
import { quoteIdentifier } from '../../support/names.js'
import { createDatabase } from '../../support/test-database.js'
import { moveClock } from './move-clock.js'
import { refusalOf } from './refusal-of.js'
import { rowsOf, scalarOf } from './rows-of.js'

// O-34: columns of the user's that are called like everything that a verb's body mentions.
const database = await createDatabase()
const session = await database.client()

it('lets columns bear the name of every word in the bodies of the verbs', async () => {
  await session.query(
    'create table tasks.reference (like tasks.template including defaults including identity including indexes)',
  )
  await session.query("select tasks.register('tasks', 'reference')")
  const sources = (
    await rowsOf(
      session,
      "select pg_get_functiondef(oid) as source from pg_proc where pronamespace = 'tasks'::regnamespace and proname like '%\\_tasks\\_reference'",
    )
  ).map((row) => row.source as string)
  expect(sources).toHaveLength(Number(await scalarOf(session, 'select count(*) from tasks.verbs()')))
  const words = new Set(sources.join('\n').match(/[a-z_][a-z0-9_]*/g))
  for (const word of [
    't',
    'u',
    'l',
    'y',
    'g',
    'this',
    'walk',
    'workers',
    'v_now',
    'v_type',
    'v_priority',
    'max_num',
    'task_id',
    'outcome',
    'gone_ids',
    'ready_in',
    'run_tokens',
  ]) {
    expect(words).toContain(word)
  }
  const template = new Set(
    (await rowsOf(session, "select attname from pg_attribute where attrelid = 'tasks.template'::regclass")).map(
      (row) => row.attname as string,
    ),
  )
  const own = [...words, 'id2', 'ID', 'null', 'old', 'new', 'oid', 'regclass', 'uuid', 'text'].filter(
    (word) => !template.has(word),
  )
  expect(own.length).toBeGreaterThan(150)

  // Booleans and texts that a comparison with them would notice; and a composite that "t.id" could mean.
  await session.query('create type pair as (id bigint, run_token uuid, planned_to timestamptz)')
  const types = ['text', 'boolean', 'bigint', 'pair']
  const columns = [...new Set(own)].map(
    (word, index) => `${quoteIdentifier(word)} ${word === 't' ? 'pair' : types[index % 4]}`,
  )
  await session.query(
    `create table tasks.mail (like tasks.template including defaults including identity including indexes, ${columns.join(', ')})`,
  )
  await session.query("select tasks.register('tasks', 'mail', timeout => '10 s', max_retries => 1)")

  await session.query(
    "insert into tasks.mail (planned_to, v_now, task_id, max_num) select '2020-01-01', null, null, null from generate_series(1, 8)",
  )
  const worker = await scalarOf<string>(session, 'select gen_random_uuid()')
  const runs = await rowsOf(session, 'select id, run_token as token from tasks.acquire_tasks_mail(8, $1)', [worker])
  expect(runs).toHaveLength(8)
  const of = (index: number) => [runs[index]?.id, runs[index]?.token]
  const wrong = '11111111-1111-4111-8111-111111111111'
  for (const verb of ['finish', 'retry', 'cancel']) {
    expect(
      (await refusalOf(session.query(`select tasks.${verb}_tasks_mail($1, run_token => $2)`, [runs[0]?.id, wrong])))
        .code,
      verb,
    ).toBe('TQ001')
  }
  expect(await scalarOf(session, 'select tasks.release_tasks_mail($1, $2)', [runs[0]?.id, wrong])).toBe(false)
  expect(
    await rowsOf(session, 'select gone_ids from tasks.heartbeat_tasks_mail($1, $2, $3)', [
      worker,
      runs.map((run) => run.id),
      runs.map((run) => run.token),
    ]),
  ).toEqual([{ gone_ids: null }])
  expect(await scalarOf(session, "select tasks.finish_tasks_mail($1, run_token => $2, comment => 'c')", of(0))).toBe(
    'finished',
  )
  expect(
    await rowsOf(
      session,
      'select * from tasks.finish_many_tasks_mail(array[$1, $2]::bigint[], array[$3, $4]::uuid[])',
      [runs[1]?.id, runs[2]?.id, runs[1]?.token, wrong],
    ),
  ).toEqual([{ task_id: runs[2]?.id, outcome: 'stale' }])
  expect(await scalarOf(session, "select tasks.retry_tasks_mail($1, run_token => $2, error => 'e')", of(2))).toBe(
    'scheduled',
  )
  expect(await scalarOf(session, 'select tasks.release_tasks_mail($1, $2)', of(3))).toBe(true)
  expect(await scalarOf(session, "select tasks.cancel_tasks_mail($1, run_token => $2, comment => 'c')", of(4))).toBe(
    'running',
  )
  expect(await scalarOf(session, 'select tasks.reset_tasks_mail($1)', [runs[5]?.id])).toBe('running')
  expect(await rowsOf(session, 'select id, comment from tasks.mail where comment is not null order by id')).toEqual([
    { id: runs[0]?.id, comment: 'c' },
    { id: runs[4]?.id, comment: 'c' },
  ])
  await moveClock(session, '1 minute')
  expect(await scalarOf(session, 'select tasks.rescue_tasks_mail()')).toBe('2')
  expect(await rowsOf(session, 'select ready_in from tasks.next_due_tasks_mail()')).toEqual([{ ready_in: 0 }])
  expect(await rowsOf(session, 'select id from tasks.acquire_tasks_mail(1)')).toHaveLength(1)
  expect(await scalarOf(session, "select tasks.clean_tasks_mail('0', '{finished,failed,canceled}')")).toBe('3')
  expect(await rowsOf(session, 'select total from tasks.stats_of_tasks_mail')).toEqual([{ total: '5' }])
  await session.query("select tasks.unregister('tasks', 'mail')")
})
