import { prepareCommand } from '@pg-tasks/sql'
import { Client } from 'pg'
import { type ChosenDatabase, chooseDatabase, type DatabaseOptions } from './choose-database.js'

const CONNECT_TIMEOUT_MS = 10_000
const LOCK_TIMEOUT_MS = 10_000

/** A client that is not connected yet. */
export function newClient(url: string): Client {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    fallback_application_name: 'pg-tasks cli',
  })
  // A connection that is lost fails the statement that runs, or the next.
  client.on('error', () => {})
  return client
}

/** Does a command's work on a connection to the chosen database. */
export async function withClient<Value>(
  options: DatabaseOptions,
  work: (client: Client, database: ChosenDatabase) => Promise<Value>,
): Promise<Value> {
  const database = await chooseDatabase(options)
  const client = newClient(database.url)
  await client.connect()
  try {
    await prepareCommand(client, { lockTimeoutMs: LOCK_TIMEOUT_MS })
    return await work(client, database)
  } finally {
    await client.end().catch(() => {})
  }
}
