import { migrate } from '@pg-tasks/sql'
import type { Client } from 'pg'
import { migrationsFingerprint } from './migration-files.js'
import { databaseUrl, quoteIdentifier, uniqueName } from './names.js'
import { withClient } from './with-client.js'

const PREFIX = 'pg_tasks_test_template_'

/** Any two numbers that nothing else uses. */
const TEMPLATE_LOCK = [7_470_117, 1]

/**
 * The name of a database with all migrations applied, made once per server by whoever needs it first.
 *
 * Made when it is needed and not before the run: tests without migrations run while a migration is being written.
 */
export async function migratedTemplate(server: Client, serverUrl: string): Promise<string> {
  const name = `${PREFIX}${migrationsFingerprint()}`
  await server.query('select pg_advisory_lock($1, $2)', TEMPLATE_LOCK)
  try {
    const { rowCount } = await server.query('select from pg_database where datname = $1', [name])
    if (rowCount === 0) await makeTemplate(server, serverUrl, name)
    return name
  } finally {
    await server.query('select pg_advisory_unlock($1, $2)', TEMPLATE_LOCK)
  }
}

export async function dropTemplates(serverUrl: string): Promise<void> {
  await withClient(serverUrl, async (server) => {
    const { rows } = await server.query<{ datname: string }>(
      'select datname from pg_database where starts_with(datname, $1)',
      [PREFIX],
    )
    for (const { datname } of rows) await server.query(`drop database if exists ${quoteIdentifier(datname)}`)
  })
}

async function makeTemplate(server: Client, serverUrl: string, name: string): Promise<void> {
  const draft = uniqueName('pg_tasks_test_draft')
  await server.query(`create database ${quoteIdentifier(draft)} template template0`)
  try {
    await withClient(databaseUrl(serverUrl, draft), migrate)
    await server.query(`alter database ${quoteIdentifier(draft)} rename to ${quoteIdentifier(name)}`)
  } catch (error) {
    await server.query(`drop database if exists ${quoteIdentifier(draft)} with (force)`)
    throw error
  }
}
