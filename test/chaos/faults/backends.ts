import type { Fault } from './fault.js'
import type { FaultOutcome, Field } from './field.js'

type BackendFault = Extract<Fault, { kind: 'terminate_backends' | 'terminate_listeners' }>

/** pg-listen's session says LISTEN first and pings itself later. */
const LISTENERS = "(query ilike '%listen%' or query ilike '%pg_notify%')"

/** What an administrator does to sessions. */
export async function injectIntoBackends(field: Field, { kind, share, salt }: BackendFault): Promise<FaultOutcome> {
  // The salt makes the choice; which sessions there are, nobody can draw beforehand.
  const chosen = 'abs(hashtext($1 || pid)::bigint) % 1000 < $2'
  const which = kind === 'terminate_listeners' ? `${LISTENERS} and ${chosen}` : chosen
  return (await terminate(field, which, [salt, share * 1_000])) > 0 ? 'done' : 'skipped'
}

/** Terminates those of our processes' sessions that meet a condition; returns how many. */
export async function terminate(field: Field, condition: string, values: readonly unknown[]): Promise<number> {
  try {
    return await field.servers.ask(async (client) => {
      const { rowCount } = await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and application_name <> 'chaos program' and ${condition}`,
        [...values],
      )
      return rowCount ?? 0
    })
  } catch {
    // The server is away: there are none.
    return 0
  }
}
