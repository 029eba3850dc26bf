import { type Connection, toQueryable } from '@pg-tasks/sql'
import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'

let database: TestDatabase
let kysely: Kysely<unknown>
beforeAll(async () => {
  database = await createDatabase({ migrations: false })
  await database.pool.query('create table note (note_id serial primary key, body text)')
  const pool = new Pool({ connectionString: database.url })
  kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }), plugins: [new CamelCasePlugin()] })
})
afterAll(() => kysely.destroy())

const connections: Record<string, (use: (connection: Connection) => Promise<void>) => Promise<void>> = {
  'a Client': async (use) => use(await database.client()),
  'a Pool': (use) => use(database.pool),
  'a Kysely': (use) => use(kysely),
  'a Kysely transaction': (use) => kysely.transaction().execute((transaction) => use(transaction)),
}

describe.each(Object.entries(connections))('A statement through %s', (_, connect) => {
  it('gives rows under the names that the statement has, and their number', async () => {
    await connect(async (connection) => {
      const queryable = toQueryable(connection)
      const result = await queryable.query('select $1::int as some_number, $2::text[] as some_texts', [1, ['a', 'b']])
      expect(result).toMatchObject({ rows: [{ some_number: 1, some_texts: ['a', 'b'] }], rowCount: 1 })
    })
  })

  it('gives the number of rows that it wrote', async () => {
    await connect(async (connection) => {
      const queryable = toQueryable(connection)
      const written = await queryable.query('insert into note (body) values ($1), ($1)', ['a'])
      expect(written).toMatchObject({ rows: [], rowCount: 2 })
      expect(await queryable.query('update note set body = $1 where false', ['a'])).toMatchObject({ rowCount: 0 })
    })
  })

  it('fails with the error of the driver', async () => {
    const attempt = connect(async (connection) => {
      await toQueryable(connection).query('select 1 / $1::int', [0])
    })
    await expect(attempt).rejects.toMatchObject({ code: '22012' })
  })
})

describe('A statement through a Kysely transaction', () => {
  it('is part of it', async () => {
    const attempt = kysely.transaction().execute(async (transaction) => {
      await toQueryable(transaction).query('insert into note (body) values ($1)', ['never'])
      throw new Error('changed my mind')
    })
    await expect(attempt).rejects.toThrow('changed my mind')
    const { rows } = await database.pool.query(`select from note where body = 'never'`)
    expect(rows).toEqual([])
  })
})
