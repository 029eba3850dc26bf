import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { monotonicMs } from '../history.js'
import type { Servers } from './servers.js'

/** How long a server may take to notice that a connection was closed. */
const CLOSING_MS = 5_000

/** Leases of dead workers, once everything has ended: those that are still there after a while. */
export function deadLeases(servers: Servers, living: readonly string[], patienceMs: number): Promise<string[]> {
  return untilNone(patienceMs, servers, async (client) => {
    const { rows } = await client.query<{ line: string }>(
      `select format('a lease of the dead worker %s for %s, which ended %s ago', worker_id, table_id, clock_timestamp() - leased_until) as line
       from tasks.leases where worker_id <> all ($1::uuid[])`,
      [living],
    )
    return rows
  })
}

/** What is there when no worker is left. */
export function leftovers(servers: Servers): Promise<string[]> {
  return untilNone(CLOSING_MS, servers, async (client) => {
    const { rows } = await client.query<{ line: string }>(
      `select format('a session of %s: %s, %s', application_name, state, left(query, 80)) as line from pg_stat_activity
       where datname = current_database() and backend_type = 'client backend' and application_name <> 'chaos program'
       union all
       select format('an advisory lock: %s %s %s', classid, objid, mode) from pg_locks
       where locktype = 'advisory' and classid between 1886415980 and 1886415986
       union all
       select format('a lease of %s for %s', worker_id, table_id) from tasks.leases`,
    )
    return rows
  })
}

async function untilNone(
  patienceMs: number,
  servers: Servers,
  look: (client: Client) => Promise<ReadonlyArray<{ readonly line: string }>>,
): Promise<string[]> {
  const deadline = monotonicMs() + patienceMs
  for (;;) {
    const lines = (await servers.ask(look)).map(({ line }) => line)
    if (lines.length === 0 || monotonicMs() > deadline) return lines
    await delay(100)
  }
}
