import { type Claimed, Task } from '@pg-tasks/client'
import { types } from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { startWorker, taskOf } from '../integration/worker/start-worker.js'
import { createTaskType, insertTasks, readTask, readTasks } from '../support/task-type.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

// B-28
describe('the values that a handler is given', () => {
  it('are what the driver makes of them by default, and its parsers stay as they were for everybody', async () => {
    const oids = [16, 17, 20, 21, 23, 114, 700, 701, 1082, 1114, 1184, 1186, 1231, 1700, 3802]
    const parsersOf = () => oids.map((oid) => types.getTypeParser(oid, 'text'))
    const before = parsersOf()
    await database.pool.query(`create type mood as enum ('sad', 'so so'); create type pair as (x int, y text);
      create domain small as int check (value < 10)`)
    await createTaskType(database.pool, 'typed', {
      columns: `big bigint default 9007199254740993, amount numeric default 0.1000, ints int[] default '{1,2}',
        mood mood default 'sad', moods mood[] default '{sad,"so so"}', body jsonb default '{"a":[1]}', bytes bytea default '\\x00ff',
        day date default '2024-03-10', span interval default '1 day 02:00', range int4range default '[1,5)',
        pair pair default '(1,a)', small small default 3`,
    })
    await insertTasks(database.pool, 'typed')
    const rows: Array<Record<string, unknown>> = []
    const recorded = await startWorker({ connectionString: database.url }, [
      taskOf<Record<string, unknown>>('typed', (row) => rows.push(row)),
      1,
    ])
    await recorded.seen('finished')
    expect(rows[0]).toMatchObject({
      id: '1',
      big: '9007199254740993',
      amount: '0.1000',
      ints: [1, 2],
      mood: 'sad',
      moods: '{sad,"so so"}',
      body: { a: [1] },
      bytes: Buffer.from([0, 255]),
      day: new Date(2024, 2, 10),
      span: { days: 1, hours: 2 },
      range: '[1,5)',
      pair: '(1,a)',
      small: 3,
    })
    expect(parsersOf()).toEqual(before)
  })
})

// B-26. The driver's Date has lost the microseconds: it no longer equals what it was read from.
describe('the times of a claimed task', () => {
  class Timed extends Task {
    override async run(): Promise<void> {}
  }

  it('fence nothing: every verb takes a task whose times are wrong', async () => {
    await createTaskType(database.pool, 'timed')
    const timed = new Timed()
    await insertTasks(database.pool, 'timed', 4)
    const wrong = new Date(0)
    const claimed = (await timed.acquire(database.pool, 4)).map((task) => ({
      ...task,
      created_at: wrong,
      planned_to: wrong,
      started_at: wrong,
    }))
    const [first, second, third, fourth] = claimed as [Claimed, Claimed, Claimed, Claimed]
    await timed.finish(database.pool, first)
    await timed.retry(database.pool, second)
    await timed.cancel(database.pool, third)
    await timed.reset(database.pool, fourth)
    expect((await readTasks(database.pool, 'timed')).map(({ state }) => state)).toEqual([
      'finished',
      'scheduled',
      'canceled',
      'ready',
    ])
  })

  it('are stored as the database knows them, whatever a caller hands back', async () => {
    await createTaskType(database.pool, 'handed_back')
    const [id] = (await insertTasks(database.pool, 'handed_back')) as [string]
    const { rows } = await database.pool.query('select * from tasks.acquire_tasks_handed_back(1)')
    const exactly = async () =>
      (await database.pool.query('select started_at::text, created_at::text from tasks.handed_back')).rows
    const before = await exactly()
    await database.pool.query('select tasks.finish_tasks_handed_back($1, $2, run_token => $3)', [
      id,
      rows[0].started_at,
      rows[0].run_token,
    ])
    expect(await exactly()).toEqual(before)
    expect(await readTask(database.pool, 'handed_back', id)).toMatchObject({ state: 'finished' })
  })
})
