import { register, type TasksDatabase, type TaskTable, tableColumns, unregister } from '@pg-tasks/sql'
import { Kysely, PostgresDialect } from 'kysely'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'

interface Database extends TasksDatabase {
  'tasks.send_letter': TaskTable & { address: string }
}

const database = await createDatabase()

describe('the Kysely types', () => {
  it.each(Object.entries(tableColumns))('name the columns of %s as the database does', async (table, columns) => {
    const { rows } = await database.pool.query<{ name: string }>(
      'select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped',
      [table],
    )
    expect(rows.map((row) => row.name).toSorted()).toEqual(Object.keys(columns).toSorted())
  })

  it('serve a task table with columns of its own', async () => {
    await database.pool.query(`
      create table tasks.send_letter (
        like tasks.template including defaults including identity including indexes, address text not null);
      select tasks.register('tasks', 'send_letter')`)
    const kysely = new Kysely<Database>({ dialect: new PostgresDialect({ pool: database.pool }) })
    const inserted = await kysely
      .insertInto('tasks.send_letter')
      .values({ address: 'Street 1' })
      .returning(['id', 'address', 'planned_to'])
      .executeTakeFirstOrThrow()
    expectTypeOf(inserted.id).toEqualTypeOf<string>()
    expectTypeOf(inserted.planned_to).toEqualTypeOf<Date>()
    expect(inserted).toMatchObject({ id: '1', address: 'Street 1', planned_to: expect.any(Date) })
    const stats = await kysely.selectFrom('tasks.stats').selectAll().where('table_name', '=', 'send_letter').execute()
    expect(stats).toMatchObject([{ total: '1', ready: '1', finished: '0' }])
  })
})

describe('register and unregister', () => {
  it('take a Kysely and its transaction, as migrate does', async () => {
    const kysely = new Kysely<Database>({ dialect: new PostgresDialect({ pool: database.pool }) })
    await database.pool.query(`
      create table tasks.stamp (like tasks.template including defaults including identity including indexes)`)
    await kysely.transaction().execute((tx) => register(tx, 'tasks', 'stamp', { maxRetries: 3 }))
    const settings = () =>
      kysely.selectFrom('tasks.types').select('max_retries').where('table_name', '=', 'stamp').execute()
    expect(await settings()).toEqual([{ max_retries: 3 }])
    await unregister(kysely, 'tasks', 'stamp')
    expect(await settings()).toEqual([])
  })

  it('say what they were given in place of a connection', async () => {
    const refused = { code: 'INVALID_ARGUMENT', message: expect.stringMatching(/promise \(is an await missing\?\)/) }
    await expect(register(database.pool.query('select') as never, 'tasks', 'stamp')).rejects.toMatchObject(refused)
  })
})
