import { Client, type QueryResultRow } from 'pg'

/** One statement on a connection of its own. */
export async function query<R extends QueryResultRow>(url: string, text: string): Promise<R[]> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<R>(text)).rows
  } finally {
    await client.end()
  }
}
