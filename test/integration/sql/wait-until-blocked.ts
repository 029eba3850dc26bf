import type { Client, Pool } from 'pg'
import { waitFor } from '../../support/wait-for.js'

/** Waits until a session waits for a lock; give the query that it is about to run first. */
export async function waitUntilBlocked(pool: Pool, client: Client): Promise<void> {
  const pid = pidOf(client)
  await waitFor(
    async () => {
      const { rows } = await pool.query<{ blocked: boolean }>(
        'select cardinality(pg_blocking_pids($1)) > 0 as blocked',
        [pid],
      )
      return rows[0]?.blocked
    },
    { what: `session ${pid} to wait for a lock` },
  )
}

/** The server process of a connection. */
export function pidOf(client: Client): number {
  return (client as unknown as { processID: number }).processID
}
