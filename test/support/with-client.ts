import { Client, type ClientConfig, DatabaseError } from 'pg'
import { waitFor } from './wait-for.js'

const TOO_MANY_CONNECTIONS = '53300'

/** Does something on a connection of its own, which it waits for while the server has none to give. */
export async function withClient<Value>(
  url: string,
  use: (client: Client) => Promise<Value>,
  options: ClientConfig = {},
): Promise<Value> {
  const client = await waitFor(() => connect({ connectionString: url, connectionTimeoutMillis: 5_000, ...options }), {
    timeoutMs: 20_000,
    what: 'a connection of the server’s',
  })
  try {
    return await use(client)
  } finally {
    await client.end().catch(() => {})
  }
}

async function connect(config: ClientConfig): Promise<Client | undefined> {
  const client = new Client(config)
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (error) {
    if (error instanceof DatabaseError && error.code === TOO_MANY_CONNECTIONS) return undefined
    throw error
  }
}
