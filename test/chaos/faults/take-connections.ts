import { Client } from 'pg'
import type { Fault } from './fault.js'
import { type FaultOutcome, type Field, last } from './field.js'

/** More than any server here allows. */
const MOST = 300

const AT_ONCE = 10

/** Somebody else uses up the server's connections, but those that are kept for superusers. */
export async function takeConnections(
  field: Field,
  { forMs }: Extract<Fault, { kind: 'take_connections' }>,
): Promise<FaultOutcome> {
  const taken: Client[] = []
  try {
    while (taken.length < MOST && !field.signal.aborted) {
      taken.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => connect(field)))))
    }
  } catch {
    // No more are to be had.
  }
  await last(field, forMs)
  await Promise.allSettled(taken.map((client) => client.end()))
  return taken.length > 0 ? 'done' : 'skipped'
}

async function connect({ servers }: Field): Promise<Client> {
  const client = new Client({ connectionString: servers.url, application_name: 'chaos program' })
  client.on('error', () => {})
  await client.connect()
  return client
}
