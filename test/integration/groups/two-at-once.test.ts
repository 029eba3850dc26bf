import { beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'

const database = await createDatabase()
const first = await database.client()
const second = await database.client()

beforeAll(async () => {
  await createTaskType(database.pool, 'member')
  await createTaskType(database.pool, 'done', { columns: 'album integer' })
  await database.pool.query("select tasks.use_groups('tasks', 'member')")
})

async function runningPair(key: string): Promise<Array<{ id: string; token: string }>> {
  await first.query('begin')
  await first.query("select tasks.create_group($1, 'tasks', 'done', '{\"album\": 7}')", [key])
  await first.query('insert into tasks.member (group_key, priority) values ($1, 0), ($1, 0)', [key])
  await first.query('commit')
  return rowsOf(first, 'select id, run_token as token from tasks.acquire_tasks_member(2)')
}

const finish = 'select tasks.finish_tasks_member($1, run_token => $2)'

describe('the last two members of a group that end at the same moment', () => {
  it('enqueue one callback, fifty times of fifty', async () => {
    for (let round = 0; round < 50; round += 1) {
      const [one, other] = await runningPair(`plain ${round}`)
      await first.query('begin')
      await second.query('begin')
      await first.query(finish, [one?.id, one?.token])
      await second.query(finish, [other?.id, other?.token])
      await Promise.all([first.query('commit'), second.query('commit')])
    }
    expect(
      await rowsOf(
        database.pool,
        `select count(*)::int as groups, count(callback_id)::int as callbacks, sum(finished)::int as finished
         from tasks.groups where key like 'plain%'`,
      ),
    ).toEqual([{ groups: 50, callbacks: 50, finished: 100 }])
    expect(await scalarOf(database.pool, 'select count(*)::int from tasks.done where album = 7')).toBe(50)
  })

  it('enqueue one in REPEATABLE READ too, where one of them is refused with 40001 and repeats', async () => {
    let refused = 0
    for (let round = 0; round < 50; round += 1) {
      const [one, other] = await runningPair(`strict ${round}`)
      await first.query('begin isolation level repeatable read')
      await second.query('begin isolation level repeatable read')
      await first.query(finish, [one?.id, one?.token])
      await second.query(finish, [other?.id, other?.token])
      const ends = await Promise.allSettled([first.query('commit'), second.query('commit')])
      for (const [index, end] of ends.entries()) {
        if (end.status === 'fulfilled') continue
        refused += 1
        expect(end.reason).toMatchObject({ code: '40001' })
        const again = index === 0 ? one : other
        await first.query(finish, [again?.id, again?.token])
      }
    }
    expect(refused).toBe(50)
    expect(
      await rowsOf(
        database.pool,
        `select count(callback_id)::int as callbacks, sum(finished)::int as finished from tasks.groups where key like 'strict%'`,
      ),
    ).toEqual([{ callbacks: 50, finished: 100 }])
  })

  it('of two groups in either order do not deadlock', async () => {
    for (let round = 0; round < 10; round += 1) {
      const left = await runningPair(`left ${round}`)
      const right = await runningPair(`right ${round}`)
      await first.query('begin')
      await second.query('begin')
      for (const run of [left[0], right[0]]) await first.query(finish, [run?.id, run?.token])
      for (const run of [right[1], left[1]]) await second.query(finish, [run?.id, run?.token])
      await Promise.all([first.query('commit'), second.query('commit')])
    }
    expect(
      await scalarOf(
        database.pool,
        `select count(callback_id)::int from tasks.groups where key like 'left%' or key like 'right%'`,
      ),
    ).toBe(20)
  })
})
