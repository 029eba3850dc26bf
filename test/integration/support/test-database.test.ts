import { Client } from 'pg'
import { expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'

it('gives every caller a database of its own', async () => {
  const [one, other] = await Promise.all([createDatabase({ migrations: false }), createDatabase({ migrations: false })])
  await one.pool.query('create table only_here ()')
  const client = await other.client()
  const { rows } = await client.query("select to_regclass('only_here') as found")
  expect(rows).toEqual([{ found: null }])
})

it('applies the migrations', async () => {
  const database = await createDatabase()
  const { rows } = await database.pool.query("select to_regclass('tasks.template') is not null as found")
  expect(rows).toEqual([{ found: true }])
})

it('makes roles that can connect and go with the database', async () => {
  const database = await createDatabase({ migrations: false })
  const role = await database.createRole('producer')
  const client = new Client({ connectionString: role.url })
  await client.connect()
  expect((await client.query('select current_user as name')).rows).toEqual([{ name: role.name }])
  await client.end()
  await database.drop()
  const other = await createDatabase({ migrations: false })
  expect((await other.pool.query('select from pg_roles where rolname = $1', [role.name])).rowCount).toBe(0)
})

it('fails if a connection is left open, and names it', async () => {
  const database = await createDatabase({ migrations: false })
  const client = new Client({ connectionString: database.url, application_name: 'forgotten' })
  client.on('error', () => {})
  await client.connect()
  await expect(database.drop()).rejects.toThrow(/left open:\n {2}forgotten: idle/)
})
