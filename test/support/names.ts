import { randomBytes } from 'node:crypto'

/** A name for a database or role that no other test file uses, now or on a server that outlives the run. */
export function uniqueName(purpose: string): string {
  return `${purpose}_${randomBytes(5).toString('hex')}`
}

export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** The connection string of another database on the same server. */
export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${encodeURIComponent(database)}`
  return url.href
}
