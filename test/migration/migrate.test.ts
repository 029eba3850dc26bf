import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate, migrationStatus } from '@pg-tasks/sql'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { quoteIdentifier } from '../support/names.js'
import { createDatabase } from '../support/test-database.js'
import { applyAsPsql, MIGRATIONS, MIGRATIONS_FOLDER } from './migration-files.js'

const ALL = MIGRATIONS.map(({ title }) => title)
const NEXT = ALL.length + 1

const temporary = mkdtempSync(join(tmpdir(), 'pg-tasks-migrations-'))
afterAll(() => rmSync(temporary, { recursive: true }))

/** The migrations, with changes to some: name → content. */
function folderWith(name: string, files: Readonly<Record<string, string>>): string {
  const folder = join(temporary, name)
  cpSync(MIGRATIONS_FOLDER, folder, { recursive: true })
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content)
  return folder
}

function nextMigration(body: string, breaking = false): string {
  return `begin isolation level read committed;\nselect tasks.start_migration(${NEXT}, 'next', ${breaking});\n${body}\n\ncommit;\n`
}

const NEXT_FILE = `${String(NEXT).padStart(4, '0')}_next.sql`

describe('migrate()', () => {
  it('applies everything once and records checksums', async () => {
    const { pool } = await createDatabase({ migrations: false })
    expect(await migrationStatus(pool)).toMatchObject({ state: 'missing', applied: [], pending: ALL })
    expect(await migrate(pool)).toEqual({ applied: ALL, alreadyApplied: [] })
    expect(await migrate(pool)).toEqual({ applied: [], alreadyApplied: ALL })
    const status = await migrationStatus(pool)
    expect(status).toMatchObject({ state: 'current', pending: [], unknown: [], problem: undefined })
    for (const applied of status.applied) expect(applied.checksum).toMatch(/^[0-9a-f]{64}$/)
  })

  it('agrees with psql -f about what is applied, and fills in the checksums that psql cannot know', async () => {
    const { pool, url } = await createDatabase({ migrations: false })
    await applyAsPsql(url)
    expect((await migrationStatus(pool)).applied.map(({ checksum }) => checksum)).toEqual(ALL.map(() => null))
    expect(await migrate(pool)).toEqual({ applied: [], alreadyApplied: ALL })
    expect((await migrationStatus(pool)).applied.every(({ checksum }) => checksum !== null)).toBe(true)
    await expect(applyAsPsql(url)).rejects.toMatchObject({ code: 'TQ010' })
  })

  it('goes on where psql -f stopped', async () => {
    const { pool, url } = await createDatabase({ migrations: false })
    await applyAsPsql(url, MIGRATIONS.slice(0, 3))
    expect(await migrationStatus(pool)).toMatchObject({ state: 'behind', pending: ALL.slice(3) })
    expect(await migrate(pool)).toEqual({ applied: ALL.slice(3), alreadyApplied: ALL.slice(0, 3) })
  })

  it('tells what it would do without doing it', async () => {
    const { pool } = await createDatabase({ migrations: false })
    expect(await migrate(pool, { dryRun: true })).toEqual({ applied: ALL, alreadyApplied: [] })
    const { rows } = await pool.query(`select to_regnamespace('tasks') as tasks`)
    expect(rows).toEqual([{ tasks: null }])
  })

  it('refuses an unknown option and a connection that is none', async () => {
    const { pool } = await createDatabase({ migrations: false })
    await expect(migrate(pool, { dryrun: true } as object)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await expect(migrate({} as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})

describe('migrate() with a role that has no rights but to read', () => {
  it('does nothing where everything is applied, be a checksum missing or not', async () => {
    const database = await createDatabase()
    const { name, url } = await database.createRole('reader')
    await database.pool.query('update tasks.migrations set checksum = null where number = 1')
    await database.pool.query(`grant usage on schema tasks to ${quoteIdentifier(name)}`)
    await database.pool.query(`grant select on tasks.migrations to ${quoteIdentifier(name)}`)
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      await client.query('set default_transaction_read_only to on')
      expect(await migrate(client)).toEqual({ applied: [], alreadyApplied: ALL })
      expect((await migrationStatus(client)).applied[0]?.checksum).toBeNull()
    } finally {
      await client.end()
    }
  })

  it('says who may migrate where something is to be applied', async () => {
    const database = await createDatabase({ migrations: false })
    const { url } = await database.createRole('stranger')
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      await expect(migrate(client)).rejects.toMatchObject({
        code: 'MIGRATION_FAILED',
        migration: ALL[0],
        message: expect.stringContaining('role that owns'),
        cause: { code: '42501' },
      })
    } finally {
      await client.end()
    }
  })

  it('needs no right to create schemas where the schema was made for it', async () => {
    const database = await createDatabase({ migrations: false })
    const { name, url } = await database.createRole('owner')
    await database.pool.query(`create schema tasks authorization ${quoteIdentifier(name)}`)
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      expect((await migrate(client)).applied).toEqual(ALL)
    } finally {
      await client.end()
    }
    // The role owns the schema's objects, which stand in the way of its end.
    await database.pool.query(`reassign owned by ${quoteIdentifier(name)} to current_user`)
  })
})

describe('migrate() and a database that does not fit', () => {
  let broken: string
  let breaking: string
  let harmless: string
  beforeAll(() => {
    broken = folderWith('broken', { [NEXT_FILE]: nextMigration('create table tasks.half (); select 1/0;') })
    breaking = folderWith('breaking', { [NEXT_FILE]: nextMigration('select 1;', true) })
    harmless = folderWith('harmless', { [NEXT_FILE]: nextMigration('select 1;') })
  })

  it('refuses a migration that was changed after it was applied', async () => {
    const { pool } = await createDatabase({ migrations: false })
    await migrate(pool)
    const [first] = MIGRATIONS
    const folder = folderWith('changed', { [first?.name ?? '']: `-- changed\n${first?.sql}` })
    await expect(migrate(pool, { folder })).rejects.toMatchObject({ code: 'MIGRATION_CHANGED', migration: ALL[0] })
    expect(await migrationStatus(pool, { folder })).toMatchObject({
      state: 'incompatible',
      problem: { code: 'MIGRATION_CHANGED' },
    })
  })

  it('leaves nothing of a migration that fails, and keeps those before it', async () => {
    const database = await createDatabase({ migrations: false })
    const client = await database.client()
    await expect(migrate(client, { folder: broken })).rejects.toMatchObject({
      code: 'MIGRATION_FAILED',
      migration: NEXT_FILE.replace('.sql', ''),
      message: expect.stringContaining('division by zero'),
      cause: { code: '22012' },
    })
    // The client is usable at once, no transaction is left open on it.
    const { rows } = await client.query(
      `select to_regclass('tasks.half') as half, (select count(*)::int from tasks.migrations) as migrations, now() = statement_timestamp() as idle`,
    )
    expect(rows).toEqual([{ half: null, migrations: ALL.length, idle: true }])
    expect(await migrate(client)).toEqual({ applied: [], alreadyApplied: ALL })
  })

  it('stays away where a later version has shut it out', async () => {
    const { pool } = await createDatabase({ migrations: false })
    await migrate(pool, { folder: breaking })
    await expect(migrate(pool)).rejects.toMatchObject({
      name: 'MigrationError',
      code: 'DATABASE_NEWER',
      migration: NEXT_FILE.replace('.sql', ''),
      message: expect.stringContaining('upgrade'),
    })
    expect((await migrationStatus(pool)).state).toBe('incompatible')
  })

  it('works with a database that is newer and does not mind', async () => {
    const { pool } = await createDatabase({ migrations: false })
    await migrate(pool, { folder: harmless })
    expect(await migrate(pool)).toEqual({ applied: [], alreadyApplied: ALL })
    expect(await migrationStatus(pool)).toMatchObject({ state: 'current', unknown: [NEXT_FILE.replace('.sql', '')] })
  })

  it('refuses files out of turn', async () => {
    const { url } = await createDatabase({ migrations: false })
    await applyAsPsql(url, MIGRATIONS.slice(0, 1))
    await expect(applyAsPsql(url, MIGRATIONS.slice(2, 3))).rejects.toMatchObject({ code: 'TQ012' })
  })

  it.each([
    ['tasks.migrations', 'create table tasks.migrations (id integer)'],
    ['tasks.types', 'create table tasks.types (id integer, timeout interval)'],
  ])('does not touch a table %s of somebody else', async (table, statement) => {
    const { pool } = await createDatabase({ migrations: false })
    await pool.query(`create schema tasks; ${statement}`)
    await expect(migrate(pool)).rejects.toMatchObject({
      code: 'MIGRATION_FAILED',
      message: expect.stringContaining(table),
    })
    const { rows } = await pool.query(
      `select count(*)::int as relations from pg_class where relnamespace = 'tasks'::regnamespace`,
    )
    expect(rows).toEqual([{ relations: 1 }])
  })
})
