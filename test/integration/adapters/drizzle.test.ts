import { fromDrizzle } from '@pg-tasks/client/drizzle'
import { sql as statement } from 'drizzle-orm'
import { drizzle as drizzleOnPg, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import { drizzle as drizzleOnPostgresJs, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import { Pool } from 'pg'
import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { adapterCases } from './adapter-cases.js'

describe('Drizzle on node-postgres', () => {
  let database: TestDatabase
  let pool: Pool
  let db: NodePgDatabase

  beforeAll(async () => {
    database = await createDatabase()
    pool = new Pool({ connectionString: database.url, max: 2 })
    db = drizzleOnPg(pool)
  })

  afterAll(() => pool.end())

  adapterCases({
    database: () => database,
    connection: () => fromDrizzle(db),
    transaction: (work) => db.transaction((tx) => work(fromDrizzle(tx))),
  })

  it('takes part in a nested transaction', async () => {
    await db.transaction(async (tx) => {
      await tx.execute(statement`create table kept (id int)`)
      await tx
        .transaction(async (inner) => {
          await fromDrizzle(inner).query('insert into kept values ($1)', [1])
          throw new Error('back')
        })
        .catch(() => {})
      await fromDrizzle(tx).query('insert into kept values ($1)', [2])
    })
    expect((await pool.query('select id from kept')).rows).toEqual([{ id: 2 }])
  })

  it('is refused where it is something else', () => {
    expect(() => fromDrizzle(pool as never)).toThrow(/"db" must be what drizzle\(\) gave/)
    expect(() => fromDrizzle({ _: { session: { client: {} } } })).toThrow(/node-postgres or drizzle-orm\/postgres-js/)
  })
})

describe('Drizzle on postgres.js', () => {
  let database: TestDatabase
  let sql: Sql
  let db: PostgresJsDatabase

  beforeAll(async () => {
    database = await createDatabase()
    sql = postgres(database.url, { max: 2, onnotice: () => {} })
    db = drizzleOnPostgresJs(sql)
  })

  afterAll(() => sql.end())

  adapterCases({
    database: () => database,
    connection: () => fromDrizzle(db),
    transaction: (work) => db.transaction((tx) => work(fromDrizzle(tx))),
  })
})
