import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'

const ISOLATIONS = ['read committed', 'repeatable read', 'serializable'] as const

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
  await createTaskType(database.pool, 'first')
  await createTaskType(database.pool, 'second')
})

/** A session for which waiting is an error. */
async function impatient(): Promise<Client> {
  const client = await database.client()
  await client.query(`set lock_timeout to '1ms'; set deadlock_timeout to '1ms'`)
  return client
}

const insert = (client: Client, table: string) => client.query(`insert into tasks.${table} (payload) values ('a')`)

describe('An enqueuer never waits', () => {
  it.each(ISOLATIONS)('for another whose transaction is open: %s', async (isolation) => {
    const [one, other] = [await impatient(), await impatient()]
    for (const client of [one, other]) {
      await client.query(`begin isolation level ${isolation}`)
      await client.query('select count(*) from tasks.types')
    }
    await insert(one, 'first')
    await insert(other, 'first')
    await one.query('commit')
    await insert(other, 'first')
    await other.query('commit')
  })

  it.each(ISOLATIONS)('for one that enqueues the same types in the other order: %s', async (isolation) => {
    const [one, other] = [await impatient(), await impatient()]
    for (const client of [one, other]) await client.query(`begin isolation level ${isolation}`)
    await insert(one, 'first')
    await insert(other, 'second')
    await insert(one, 'second')
    await insert(other, 'first')
    await Promise.all([one.query('commit'), other.query('commit')])
  })

  it('for a worker, whatever it has open', async () => {
    const enqueuer = await impatient()
    const worker = await database.client()
    await insert(enqueuer, 'first')
    for (const statement of [
      'select id from tasks.acquire_tasks_first(1, gen_random_uuid())',
      `select tasks.finish_tasks_first(id, run_token => run_token) from tasks.first where started_at is not null limit 1`,
      'select tasks.rescue_tasks_first()',
      'select tasks.clean_before_tasks_first(now())',
      `select tasks.register('tasks', 'first')`,
      'select * from tasks.stats',
    ]) {
      await worker.query('begin')
      await worker.query(statement)
      await insert(enqueuer, 'first')
      await worker.query('rollback')
    }
  })

  it('for a worker that falls asleep again and again', async () => {
    const worker = await database.client()
    const enqueuer = await impatient()
    const table = `'tasks.first'::regclass::oid`
    let rounds = 0
    let stop = false
    const sleeper = (async () => {
      while (!stop) {
        await worker.query(`select tasks.fall_asleep(${table})`)
        await worker.query(`select tasks.nothing_in_flight(${table})`)
        await worker.query(`select tasks.wake_up(${table})`)
        rounds += 1
      }
    })()
    try {
      for (let i = 0; i < 300; i += 1) await insert(enqueuer, 'first')
    } finally {
      stop = true
      await sleeper
    }
    expect(rounds).toBeGreaterThan(20)
  })
})

describe('A canceled enqueuer', () => {
  it('leaves no lock of a probe behind, at whatever moment', async () => {
    // While a probe's lock outlived its statement, no worker could fall asleep. 300 moments hit such a gap some ten times.
    const enqueuer = await database.client()
    const { rows } = await enqueuer.query('select pg_backend_pid() as pid')
    const cancel = () => database.pool.query('select pg_cancel_backend($1)', [rows[0].pid])
    for (let i = 0; i < 300; i += 1) {
      let ended: unknown
      const endless = enqueuer
        .query(`do $$ begin loop insert into tasks.first (payload) values ('a'); end loop; end $$`)
        .catch((error) => {
          ended = error.code
        })
      await delay(Math.random() * 3)
      // A cancel that comes before the statement is without effect.
      while (ended === undefined) await cancel()
      await endless
      expect(ended).toBe('57014')
    }
    const locks = await database.pool.query(
      `select classid, mode from pg_locks where locktype = 'advisory' and pid = $1`,
      [rows[0].pid],
    )
    expect(locks.rows).toEqual([])
  })
})
