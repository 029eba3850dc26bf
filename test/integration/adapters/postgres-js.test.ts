import { fromPostgresJs } from '@pg-tasks/client/postgres-js'
import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { adapterCases } from './adapter-cases.js'

let database: TestDatabase
let sql: Sql

beforeAll(async () => {
  database = await createDatabase()
  sql = postgres(database.url, { max: 2, onnotice: () => {} })
})

afterAll(() => sql.end())

describe('postgres.js', () => {
  adapterCases({
    database: () => database,
    connection: () => fromPostgresJs(sql),
    transaction: (work) => sql.begin((tx) => work(fromPostgresJs(tx))) as Promise<never>,
  })

  it('takes part in a savepoint', async () => {
    await sql.begin(async (tx) => {
      await tx`create table kept (id int)`
      await tx
        .savepoint(async (inner) => {
          await fromPostgresJs(inner).query('insert into kept values ($1)', [1])
          throw new Error('back')
        })
        .catch(() => {})
      await fromPostgresJs(tx).query('insert into kept values ($1)', [2])
    })
    expect(await sql`select id from kept`).toEqual([{ id: 2 }])
  })

  it("runs several statements of one text, and gives the last one's rows", async () => {
    const { rows } = await fromPostgresJs(sql).query("select 1 as one; select 'two' as two")
    expect(rows).toEqual([{ two: 'two' }])
  })

  it('is refused where it renames columns, or is something else', async () => {
    const renaming = postgres(database.url, { transform: postgres.camel })
    expect(() => fromPostgresJs(renaming)).toThrow(/without `transform`/)
    expect(() => fromPostgresJs(sql`select 1` as never)).toThrow(/"sql" must be what postgres\(\) gave/)
    await renaming.end()
  })
})
