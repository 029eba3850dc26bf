import { migrate } from '@pg-tasks/sql'
import type { Client } from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../support/test-database.js'
import { installScript } from './original/install.js'

let database: TestDatabase
let client: Client
let warnings: string[]

beforeEach(async () => {
  database = await createDatabase({ migrations: false })
  client = await database.client()
  warnings = []
  client.on('notice', ({ severity, message }) => {
    if (severity === 'WARNING') warnings.push(message ?? '')
  })
  await installScript(client, 'newer')
  await client.query(`
    create table tasks.first (like tasks.template including all);
    create table tasks.second (like tasks.template including all);
    select tasks.register('tasks', 'first');
    select tasks.register('tasks', 'second')`)
})

const adopted = async () =>
  (await client.query('select adopted_table from tasks.adopt()')).rows.map((row) => row.adopted_table)
const remains = async () =>
  (
    await client.query(`select relname from pg_class where relname ~ '^original_' and relkind in ('r', 'v') order by 1`)
  ).rows.map((row) => row.relname)

describe('adopt()', () => {
  it('takes what is free and comes back for a table that is in use', async () => {
    await migrate(client)
    const reader = await database.client()
    await reader.query('begin; select from tasks.first')
    expect(await adopted()).toEqual(['second'])
    expect(warnings).toEqual([expect.stringMatching(/^tasks\.first is not adopted: .* in use/)])
    // Nothing of the half-adopted table is left, and its old functions are still there.
    await client.query('select tasks.finish_tasks_first(1, now())')
    await reader.query('rollback')
    expect(await adopted()).toEqual(['first'])
    expect(await remains()).toEqual([])
  })

  it('passes by a table that is gone', async () => {
    await client.query('drop table tasks.first cascade')
    await migrate(client)
    expect(await adopted()).toEqual(['second'])
    expect(warnings).toEqual([expect.stringContaining('tasks.first of the original is gone')])
    expect(await remains()).toEqual([])
  })

  it('names a column that is in the way, and goes on when it is renamed', async () => {
    await client.query('alter table tasks.first add column priority text')
    await migrate(client)
    expect(await adopted()).toEqual(['second'])
    expect(warnings).toEqual([expect.stringContaining('column priority is text')])
    await client.query('alter table tasks.first rename column priority to urgency')
    expect(await adopted()).toEqual(['first'])
  })

  it('refuses settings that make no sense and takes mended ones', async () => {
    await client.query(`update tasks.types set timeout = '-1 s' where table_name = 'first'`)
    await migrate(client)
    expect(await adopted()).toEqual(['second'])
    expect(warnings).toEqual([expect.stringContaining('timeout must not be negative')])
    await client.query(`update tasks.original_types set timeout = '1 s' where table_name = 'first'`)
    expect(await adopted()).toEqual(['first'])
  })

  it('leaves the database with the names of a fresh installation', async () => {
    const names = `select c.relname, c.relkind from pg_class c where c.relnamespace = 'tasks'::regnamespace and c.relkind in ('r', 'i', 'S', 'v')
      and c.relname !~ '(first|second)' order by 1`
    await migrate(client)
    await adopted()
    const fresh = await createDatabase()
    expect((await client.query(names)).rows).toEqual((await fresh.pool.query(names)).rows)
    const functions = `select p.oid::regprocedure::text as signature from pg_proc p where p.pronamespace = 'tasks'::regnamespace
      and p.proname !~ '(first|second)' order by 1`
    expect((await client.query(functions)).rows).toEqual((await fresh.pool.query(functions)).rows)
  })

  it('has nothing to do where there never was an original', async () => {
    const { pool } = await createDatabase()
    expect((await pool.query('select * from tasks.adopt()')).rows).toEqual([])
  })
})

describe('Two calls of adopt() at once', () => {
  it('adopt each table once', async () => {
    await migrate(client)
    const other = await database.client()
    const both = await Promise.all(
      [client, other].map((session) => session.query('select adopted_table from tasks.adopt()')),
    )
    expect(both.flatMap(({ rows }) => rows.map((row) => row.adopted_table)).sort()).toEqual(['first', 'second'])
    expect(warnings).toEqual([])
  })
})
