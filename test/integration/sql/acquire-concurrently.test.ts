import type { Client } from 'pg'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { endOpenTransactions } from './end-open-transactions.js'
import { refusalOf } from './refusal-of.js'
import { rowsOf, scalarOf } from './rows-of.js'
import { waitUntilBlocked } from './wait-until-blocked.js'

const database = await createDatabase()
const session = await database.client()

afterEach(() => endOpenTransactions(session))

beforeAll(() => createTaskType(session, 'mail', { settings: "timeout => '10 minutes', max_retries => 3" }))

describe('eight acquirers at once', () => {
  it.each([
    ['workers', true],
    ['callers without a worker', false],
  ])('get each of 5,000 tasks once (%s)', async (_, workers) => {
    await session.query('truncate tasks.mail')
    await session.query(
      "insert into tasks.mail (priority, planned_to) select g % 4, '2020-01-01' from generate_series(1, 5000) g",
    )
    const drain = async (client: Client, index: number) => {
      const ids: string[] = []
      const worker = workers ? await scalarOf<string>(client, 'select gen_random_uuid()') : null
      for (let empty = 0; empty < 3; ) {
        const runs = await rowsOf(client, 'select id, run_token as token from tasks.acquire_tasks_mail($1, $2)', [
          1 + index * 7,
          worker,
        ])
        expect(runs.length).toBeLessThanOrEqual(1 + index * 7)
        if (runs.length === 0) empty += 1
        ids.push(...runs.map((run) => run.id))
        if (index % 2 === 0) {
          await client.query('select * from tasks.finish_many_tasks_mail($1, $2)', [
            runs.map((run) => run.id),
            runs.map((run) => run.token),
          ])
        }
      }
      return ids
    }
    const clients = await Promise.all(Array.from({ length: 8 }, () => database.client()))
    const ids = (await Promise.all(clients.map(drain))).flat()
    expect(ids).toHaveLength(5_000)
    expect(new Set(ids).size).toBe(5_000)
    expect(await scalarOf(session, 'select max(execution_count) from tasks.mail')).toBe(1)
    await Promise.all(clients.map((client) => client.end()))
  })
})

// B-23
describe.each(['repeatable read', 'serializable'])('a caller in %s', (isolation) => {
  it('acquires, rescues and finishes as any other', async () => {
    await session.query('truncate tasks.mail')
    await session.query("insert into tasks.mail (planned_to) values ('2020-01-01'), ('2020-01-01')")
    await session.query(
      "insert into tasks.mail (planned_to, started_at, run_until) values ('2020-01-01', '2020-01-02', '2020-01-03')",
    )
    const client = await database.client()
    await client.query(`begin isolation level ${isolation}`)
    expect(await rowsOf(client, 'select id from tasks.acquire_tasks_mail(10)')).toHaveLength(3)
    await client.query('select tasks.finish_tasks_mail(id) from tasks.mail where run_until > now()')
    await client.query('commit')
    expect(await scalarOf(session, 'select count(finished_at) from tasks.mail where lost_count < 2')).toBe('3')
  })

  it('gets 40001 for a row that was taken after its snapshot, and may repeat', async () => {
    await session.query('truncate tasks.mail')
    const id = await scalarOf<string>(session, "insert into tasks.mail (planned_to) values ('2020-01-01') returning id")
    const client = await database.client()
    await client.query(`begin isolation level ${isolation}`)
    await client.query('select count(*) from tasks.mail')
    await session.query('select tasks.acquire_tasks_mail(1)')
    expect((await refusalOf(client.query('select * from tasks.acquire_tasks_mail(10)'))).code).toBe('40001')
    await client.query('rollback')
    await client.query(`begin isolation level ${isolation}`)
    expect(await rowsOf(client, 'select id from tasks.acquire_tasks_mail(10)')).toEqual([])
    await client.query('rollback')
    expect(await scalarOf(session, 'select execution_count from tasks.mail where id = $1', [id])).toBe(1)
  })

  it('lets one of two finishes win', async () => {
    await session.query('truncate tasks.mail')
    const id = await scalarOf<string>(session, "insert into tasks.mail (planned_to) values ('2020-01-01') returning id")
    await session.query('select tasks.acquire_tasks_mail(1)')
    const [first, second] = await Promise.all([database.client(), database.client()])
    for (const client of [first, second]) {
      await client.query(`begin isolation level ${isolation}`)
      await client.query('select count(*) from tasks.mail')
    }
    await first.query('select tasks.finish_tasks_mail($1)', [id])
    const losing = refusalOf(second.query('select tasks.finish_tasks_mail($1)', [id]))
    await waitUntilBlocked(database.pool, second)
    await first.query('commit')
    expect((await losing).code).toBe('40001')
    await second.query('rollback')
  })

  it('is not kept from acquiring with a worker by the heartbeats of that worker', async () => {
    await session.query('truncate tasks.mail')
    await session.query("insert into tasks.mail (planned_to) values ('2020-01-01'), ('2020-01-02')")
    const worker = await scalarOf<string>(session, 'select gen_random_uuid()')
    await session.query('select tasks.acquire_tasks_mail(1, $1)', [worker])
    const client = await database.client()
    await client.query(`begin isolation level ${isolation}`)
    await client.query('select count(*) from tasks.mail')
    await session.query("select * from tasks.heartbeat_tasks_mail($1, '{}', '{}')", [worker])
    expect(await rowsOf(client, 'select id from tasks.acquire_tasks_mail(1, $1)', [worker])).toHaveLength(1)
    await session.query("select * from tasks.heartbeat_tasks_mail($1, '{}', '{}')", [worker])
    await client.query('commit')
  })
})

it('finishing many and acquiring never deadlocks with itself, whatever the order of the ids (B-64)', async () => {
  await session.query('truncate tasks.mail')
  await session.query("insert into tasks.mail (planned_to) select '2020-01-01' from generate_series(1, 200)")
  const runs = await rowsOf(session, 'select id, run_token as token from tasks.acquire_tasks_mail(200)')
  const clients = await Promise.all(Array.from({ length: 4 }, () => database.client()))
  await Promise.all(
    clients.map(async (client, index) => {
      const own = index % 2 === 0 ? runs : runs.toReversed()
      await client.query('begin')
      await client.query('select * from tasks.finish_many_tasks_mail($1, $2)', [
        own.map((run) => run.id),
        own.map((run) => run.token),
      ])
      await client.query('commit')
    }),
  )
  expect(await scalarOf(session, 'select count(finished_at) from tasks.mail')).toBe('200')
})
