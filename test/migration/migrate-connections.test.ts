import { type Connection, migrate } from '@pg-tasks/sql'
import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely'
import { Pool } from 'pg'
import { describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../support/test-database.js'
import { MIGRATIONS } from './migration-files.js'

const COUNT = MIGRATIONS.length

async function appliedCount(database: TestDatabase): Promise<number> {
  const { rows } = await database.pool.query(`select to_regclass('tasks.migrations') is not null as there`)
  if (!rows[0].there) return 0
  return (await database.pool.query('select count(*)::int as n from tasks.migrations')).rows[0].n
}

async function withKysely<T>(database: TestDatabase, use: (kysely: Kysely<unknown>) => Promise<T>): Promise<T> {
  const pool = new Pool({ connectionString: database.url })
  // The plugin would rename the columns of what is read.
  const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }), plugins: [new CamelCasePlugin()] })
  try {
    return await use(kysely)
  } finally {
    await kysely.destroy()
  }
}

describe('migrate() takes the connection that the caller has', () => {
  const connections: Record<
    string,
    (database: TestDatabase, use: (connection: Connection) => Promise<void>) => Promise<void>
  > = {
    'a Client': async (database, use) => use(await database.client()),
    'a Pool': (database, use) => use(database.pool),
    'a client of a pool': async (database, use) => {
      const client = await database.pool.connect()
      await use(client).finally(() => client.release())
    },
    'a Kysely': (database, use) => withKysely(database, use),
    'anything with query(text, values)': (database, use) =>
      use({ query: (text, values) => database.pool.query(text, values as unknown[]) }),
  }

  it.each(Object.keys(connections))('%s', async (kind) => {
    const database = await createDatabase({ migrations: false })
    await connections[kind]?.(database, async (connection) => {
      expect((await migrate(connection)).applied).toHaveLength(COUNT)
      expect(await migrate(connection)).toMatchObject({ applied: [] })
    })
    expect(await appliedCount(database)).toBe(COUNT)
  })
})

describe('migrate() in a transaction of the caller', () => {
  it('is part of it: a Kysely transaction that commits', async () => {
    const database = await createDatabase({ migrations: false })
    await withKysely(database, (kysely) => kysely.transaction().execute((transaction) => migrate(transaction)))
    expect(await appliedCount(database)).toBe(COUNT)
  })

  it('is part of it: a Kysely transaction that rolls back', async () => {
    const database = await createDatabase({ migrations: false })
    const attempt = withKysely(database, (kysely) =>
      kysely.transaction().execute(async (transaction) => {
        await migrate(transaction)
        throw new Error('changed my mind')
      }),
    )
    await expect(attempt).rejects.toThrow('changed my mind')
    expect(await appliedCount(database)).toBe(0)
  })

  it('is part of it: begin and rollback on a Client', async () => {
    const database = await createDatabase({ migrations: false })
    const client = await database.client()
    await client.query('begin')
    expect((await migrate(client)).applied).toHaveLength(COUNT)
    await client.query('rollback')
    expect(await appliedCount(database)).toBe(0)
  })
})
