import type { Client } from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { createTaskType } from '../sql/create-task-type.js'
import { pidOf } from '../sql/wait-until-blocked.js'
import { ModelSleeper, pause } from './model-sleeper.js'

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})

/** A sleeper whose two sessions can be ended from outside. */
class Mortal {
  readonly #clients: readonly Client[]
  readonly #sleeper: ModelSleeper

  private constructor(clients: readonly [Client, Client], table: string, handlerMs: number, seen: Set<string>) {
    this.#clients = clients
    this.#sleeper = new ModelSleeper(...clients, table, {
      secondLook: true,
      handle: async (id) => {
        await pause(handlerMs)
        seen.add(id)
      },
    })
  }

  static async start(table: string, handlerMs: number, seen = new Set<string>()): Promise<Mortal> {
    const mortal = new Mortal([await database.client(), await database.client()], table, handlerMs, seen)
    await mortal.#sleeper.start()
    return mortal
  }

  async kill(): Promise<void> {
    await database.pool.query('select pg_terminate_backend(pid, 5000) from unnest($1::integer[]) pid', [
      this.#clients.map(pidOf),
    ])
    await this.#sleeper.stop().catch(() => {})
  }

  stop(): Promise<void> {
    return this.#sleeper.stop()
  }
}

async function locks(table: string, classId: number): Promise<number> {
  const { rows } = await database.pool.query(
    `select count(*)::int as n from pg_locks where locktype = 'advisory' and granted and classid = $1 and objid = $2::regclass::oid`,
    [classId, `tasks.${table}`],
  )
  return rows[0].n
}

const sleepersOf = (table: string) => locks(table, 1886415982)
const promisesOf = (table: string) => locks(table, 1886415983)
const enqueue = async (table: string): Promise<string> =>
  (await database.pool.query(`insert into tasks.${table} default values returning id::text`)).rows[0].id

describe('When a worker is killed', () => {
  it('a sleeping one hears of what was committed while the killed one had promised to look', async () => {
    await createTaskType(database.pool, 'promised')
    const seen = new Set<string>()
    const sleeping = await Mortal.start('promised', 0, seen)
    await waitFor(async () => (await sleepersOf('promised')) === 1)
    // A worker that is busy, has room, and so has promised to look by itself.
    const promising = await database.client()
    await promising.query(`select tasks.stay_awake('tasks.promised'::regclass::oid)`)
    const id = await enqueue('promised')
    await database.pool.query('select pg_terminate_backend($1, 5000)', [pidOf(promising)])
    await waitFor(() => seen.has(id))
    await sleeping.stop()
  })

  it('asleep, the other sleepers are still told', async () => {
    await createTaskType(database.pool, 'asleep')
    const seen = new Set<string>()
    const [first, second] = [await Mortal.start('asleep', 0), await Mortal.start('asleep', 0, seen)]
    await waitFor(async () => (await sleepersOf('asleep')) === 2 && (await promisesOf('asleep')) === 0)
    await first.kill()
    const id = await enqueue('asleep')
    await waitFor(() => seen.has(id))
    await second.stop()
  })

  it('at any moment, its fellow sees every task', { timeout: 60_000 }, async () => {
    await createTaskType(database.pool, 'random')
    let victim = await Mortal.start('random', 10)
    let fellow = await Mortal.start('random', 10)
    for (let attempt = 0; attempt < 60; attempt += 1) {
      const enqueuing = Promise.all(
        Array.from({ length: 3 }, async () => {
          await pause(Math.random() * 30)
          return enqueue('random')
        }),
      )
      await pause(Math.random() * 40)
      await victim.kill()
      const ids = await enqueuing
      await waitFor(
        async () => {
          const { rows } = await database.pool.query(
            'select count(*)::int as n from tasks.random where id = any($1::bigint[]) and execution_count > 0',
            [ids],
          )
          return rows[0].n === ids.length
        },
        { what: 'the tasks to be acquired by whoever is left' },
      )
      victim = fellow
      fellow = await Mortal.start('random', 10)
    }
    await Promise.all([victim.stop(), fellow.stop()])
    expect(await sleepersOf('random')).toBe(0)
  })
})
