import knex, { type Knex } from 'knex'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { adapterCases } from './adapter-cases.js'
import { fromKnex } from './from-knex.js'

let database: TestDatabase
let db: Knex

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
