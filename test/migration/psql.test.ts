import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { migrate } from '@pg-tasks/sql'
import { describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../support/test-database.js'
import { MIGRATIONS, MIGRATIONS_FOLDER } from './migration-files.js'

/** psql comes with PostgreSQL, not with npm. */
function hasPsql(): boolean {
  try {
    execFileSync('psql', ['--version'])
    return true
  } catch {
    return false
  }
}

async function psql(database: TestDatabase, file: string): Promise<void> {
  await promisify(execFile)('psql', [
    '-X',
    '-q',
    '-v',
    'ON_ERROR_STOP=1',
    '-d',
    database.url,
    '-f',
    join(MIGRATIONS_FOLDER, file),
  ])
}

/** Every function as it is defined: what psql made of quotes, colons and backslashes shows here. */
async function functionsOf(database: TestDatabase): Promise<unknown[]> {
  const { rows } = await database.pool.query(
    `select p.oid::regprocedure::text as name, pg_get_functiondef(p.oid) as definition
     from pg_proc p where p.pronamespace = 'tasks'::regnamespace order by 1`,
  )
  return rows
}

describe.skipIf(!hasPsql())('psql', () => {
  it('makes the same of the files as migrate(), which then has nothing to do', async () => {
    const [byPsql, byMigrate] = [await createDatabase({ migrations: false }), await createDatabase()]
    for (const { name } of MIGRATIONS) await psql(byPsql, name)
    expect(await functionsOf(byPsql)).toEqual(await functionsOf(byMigrate))
    expect(await migrate(byPsql.pool)).toEqual({ applied: [], alreadyApplied: MIGRATIONS.map(({ title }) => title) })
  })

  it('is refused a file a second time, and changes nothing', async () => {
    const database = await createDatabase()
    const before = await functionsOf(database)
    for (const { name } of MIGRATIONS) await expect(psql(database, name)).rejects.toThrow('is already applied')
    expect(await functionsOf(database)).toEqual(before)
  })
})
