import type { Queryable } from '../connection.js'
import { quoteIdentifier } from '../quote-identifier.js'

export async function databaseExists(connection: Queryable, name: string): Promise<boolean> {
  const { rows } = await connection.query('select from pg_catalog.pg_database where datname = $1::name', [name])
  return rows.length > 0
}

/** Copies a database to which nobody is connected. */
export async function createDatabaseFrom(connection: Queryable, name: string, template: string): Promise<void> {
  await connection.query(`create database ${quoteIdentifier(name)} template ${quoteIdentifier(template)}`)
}

export async function renameDatabase(connection: Queryable, name: string, to: string): Promise<void> {
  await connection.query(`alter database ${quoteIdentifier(name)} rename to ${quoteIdentifier(to)}`)
}

/** Whoever is connected is cut off. */
export async function dropDatabase(connection: Queryable, name: string): Promise<void> {
  await connection.query(`drop database if exists ${quoteIdentifier(name)} with (force)`)
}

/** Waits until nobody else holds the name; until {@link unlockName}, or the end of the session. */
export async function lockName(connection: Queryable, name: string): Promise<void> {
  await connection.query('select pg_catalog.pg_advisory_lock(pg_catalog.hashtextextended($1::text, 0))::text', [name])
}

export async function unlockName(connection: Queryable, name: string): Promise<void> {
  await connection.query('select pg_catalog.pg_advisory_unlock(pg_catalog.hashtextextended($1::text, 0))', [name])
}
