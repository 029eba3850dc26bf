import { realpathSync } from 'node:fs'
import { Client } from 'pg'

/**
 * - `ours`: a connection with our password reached the server of this data directory
 * - `unready`: somebody answers there and takes no connection now: starting, stopping, or all slots in use
 * - `absent`: nobody answers, or somebody else does
 */
export type ProbeResult = 'ours' | 'unready' | 'absent'

const CONNECT_TIMEOUT_MS = 5_000
/** cannot_connect_now, too_many_connections */
const UNREADY = ['57P03', '53300']

export function serverUrl(port: number, password: string): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
}

/** Connects and asks: a process number and an open port prove nothing about whose server it is. */
export async function probe(port: number, password: string, data: string): Promise<ProbeResult> {
  const client = new Client({
    connectionString: serverUrl(port, password),
    ssl: false,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
    application_name: 'pg-tasks embedded',
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ directory: string }>("select current_setting('data_directory') as directory")
    return realpathSync(rows[0]?.directory ?? '') === realpathSync(data) ? 'ours' : 'absent'
  } catch (error) {
    return UNREADY.includes(String((error as { code?: unknown }).code)) ? 'unready' : 'absent'
  } finally {
    await client.end().catch(() => {})
  }
}
