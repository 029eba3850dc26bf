import { inTransaction } from '@pg-tasks/client'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { Pool } from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startProxy } from '../support/proxy.js'
import { createDatabase } from '../support/test-database.js'

const database = await createDatabase({ migrations: false })
const MAX = 2
let pool: Pool

beforeEach(() => {
  pool = new Pool({ connectionString: database.url, max: MAX, application_name: 'broken' })
  pool.on('error', () => {})
})

afterEach(() => pool.end())

const END_OWN_SESSION = 'select pg_terminate_backend(pg_backend_pid())'

/** All connections of the pool at once, and none of them in a transaction that somebody else began. */
async function expectUsable(): Promise<void> {
  expect(pool.totalCount).toBeLessThanOrEqual(MAX)
  const answers = await Promise.all(
    Array.from({ length: 2 * MAX }, () => pool.query('select now() = statement_timestamp() as alone, pg_sleep(0.02)')),
  )
  expect(answers.map(({ rows }) => rows[0].alone)).toEqual(Array(2 * MAX).fill(true))
  expect(pool.totalCount).toBeLessThanOrEqual(MAX)
  expect(pool.idleCount).toBe(pool.totalCount)
}

// B-51
describe('a transaction whose connection is lost', () => {
  it('fails with the error of its work, not with that of the rollback, and its connection is not used again', async () => {
    const own = new Error('the error of the work')
    for (let round = 0; round < 3 * MAX; round++) {
      const failed = inTransaction(pool, async (tx) => {
        await tx.query(END_OWN_SESSION).catch(() => {})
        throw own
      })
      await expect(failed).rejects.toBe(own)
    }
    await expectUsable()
  })

  it('is not used again either where the rollback gets no answer', async () => {
    const proxy = await startProxy(database.url)
    const slow = new Pool({ connectionString: proxy.url, max: 1, query_timeout: 300 })
    slow.on('error', () => {})
    const own = new Error('the error of the work')
    const failed = inTransaction(slow, async (tx) => {
      await tx.query('select 1')
      await proxy.hold()
      throw own
    })
    await expect(failed).rejects.toBe(own)
    expect(slow.totalCount).toBe(0)
    await proxy.pass()
    expect((await slow.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    await slow.end()
    await proxy.close()
  })

  it('fails where it is not noticed before COMMIT', async () => {
    const failed = inTransaction(pool, (tx) => tx.query(END_OWN_SESSION).catch(() => {}))
    await expect(failed).rejects.toThrow(/terminat|connection/i)
    await expectUsable()
  })

  it('fails at BEGIN without costing the pool a connection', async () => {
    const begins = async () => {
      const client = await pool.connect()
      client.release()
      await database.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'broken'`,
      )
      // The pool may have noticed by now; then this succeeds.
      await inTransaction(pool, (tx) => tx.query('select 1')).catch(() => {})
    }
    for (let round = 0; round < 3 * MAX; round++) await begins()
    await expectUsable()
  })

  it('leaves a Kysely usable too', async () => {
    // Kysely doesn't listen to a connection in use: where one is lost, the process ends, unless its pool's owner listens.
    pool.on('connect', (client) => client.on('error', () => {}))
    const kysely = new Kysely<object>({ dialect: new PostgresDialect({ pool }) })
    for (let round = 0; round < 3 * MAX; round++) {
      const failed = inTransaction(kysely, (trx) => sql.raw(END_OWN_SESSION).execute(trx))
      await expect(failed).rejects.toThrow()
    }
    await expectUsable()
  })
})
