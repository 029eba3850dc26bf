import type { Client } from 'pg'
import { waitFor } from './wait-for.js'

/** What a server may take to notice that a connection was closed. */
const GRACE_MS = 2_000

/** The sessions that stay open on a database, one line each. */
export async function openSessions(server: Client, database: string): Promise<string[]> {
  let sessions: string[] = []
  const noneLeft = async () => {
    const { rows } = await server.query<{ session: string }>(
      `select format('  %s: %s, last query: %s', coalesce(nullif(application_name, ''), 'unnamed'), state, left(query, 100)) as session
       from pg_stat_activity where datname = $1 and backend_type = 'client backend' order by backend_start`,
      [database],
    )
    sessions = rows.map((row) => row.session)
    return sessions.length === 0
  }
  await waitFor(noneLeft, { timeoutMs: GRACE_MS }).catch(() => {})
  return sessions
}
