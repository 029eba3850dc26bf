import { expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { moveClock } from '../sql/move-clock.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'

const database = await createDatabase()
const session = await database.client()
const other = await database.client()

const partitions = async () =>
  (
    await rowsOf<{ name: string }>(
      session,
      `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = 'tasks.attempts'::regclass order by 1`,
    )
  ).map(({ name }) => name)

async function runOne(): Promise<void> {
  await session.query('insert into tasks.mail default values')
  await session.query('select tasks.finish_tasks_mail(id) from tasks.acquire_tasks_mail(1)')
}

const placesOf = () =>
  rowsOf(session, 'select tableoid::regclass::text as place, count(*)::int from tasks.attempts group by 1 order by 1')

it('attempts lie in a partition per day, which maintenance makes ahead and drops once it is past its time', async () => {
  await createTaskType(session, 'mail')
  expect(await partitions()).toEqual(['attempts_default'])
  await session.query("select tasks.keep_history('tasks', 'mail', '3 days')")
  expect(await partitions()).toHaveLength(9)
  await runOne()
  expect((await placesOf())[0]?.place).toMatch(/attempts_\d{8}$/)

  // Nobody maintained for two weeks: the default partition takes it.
  await moveClock(session, '14 days')
  await session.query('update tasks.mail set planned_to = tasks.clock()')
  await runOne()
  expect((await placesOf()).map(({ place }) => place)).toContain('tasks.attempts_default')
  await session.query('select * from tasks.maintain()')
  expect(await scalarOf(session, 'select count(*)::int from tasks.attempts')).toBe(1)
  // Today's rows are in the default partition: the day has none of its own; the next ones have.
  expect(await partitions()).toHaveLength(1 + 7)

  await moveClock(session, '20 days')
  await session.query('select * from tasks.maintain()')
  expect(await scalarOf(session, 'select count(*)::int from tasks.attempts')).toBe(0)
  await moveClock(session, '40 days')
  await session.query("select tasks.keep_history('tasks', 'mail', null)")
  await session.query('select * from tasks.maintain()')
  expect(await partitions()).toEqual(['attempts_default'])
})

it('an open transaction that has written attempts holds up neither maintenance nor the ends behind it', async () => {
  await moveClock(session, '100 days')
  await session.query("select tasks.keep_history('tasks', 'mail', '3 days')")
  await session.query('insert into tasks.mail default values')
  await other.query('begin')
  await other.query('select tasks.finish_tasks_mail(id) from tasks.acquire_tasks_mail(1)')
  await moveClock(session, '101 days')
  await session.query("set statement_timeout = '5 s'")
  await session.query('select * from tasks.maintain()')
  await runOne()
  await other.query('commit')
  await session.query('select * from tasks.maintain()')
  expect(await partitions()).toHaveLength(1 + 9)
})
