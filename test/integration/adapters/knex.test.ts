import type { Queryable } from '@pg-tasks/sql'
import knex, { type Knex } from 'knex'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { adapterCases } from './adapter-cases.js'

let database: TestDatabase
let db: Knex

/** The recipe of docs/guides/adapters.md. */
function fromKnex(knexOrTransaction: Knex): Queryable {
  const { client } = knexOrTransaction
  return {
    async query(text, values) {
      const connection = await client.acquireConnection()
      try {
        return await connection.query(text, values)
      } finally {
        await client.releaseConnection(connection)
      }
    },
  }
}

beforeAll(async () => {
  database = await createDatabase()
  db = knex({ client: 'pg', connection: database.url, pool: { min: 0, max: 2 } })
})

afterAll(() => db.destroy())

describe('Knex', () => {
  adapterCases({
    database: () => database,
    connection: () => fromKnex(db),
    transaction: (work) => db.transaction((trx) => work(fromKnex(trx))),
  })

  it('gives every connection back', async () => {
    for (let round = 0; round < 5; round += 1) await fromKnex(db).query('select 1')
    await expect(fromKnex(db).query('select nonsense')).rejects.toThrow(/nonsense/)
    expect(db.client.pool.numUsed()).toBe(0)
  })
})
