import type { Fault } from './fault.js'
import type { FaultOutcome, Field } from './field.js'

type BackendFault = Extract<Fault, { kind: 'terminate_backends' | 'terminate_listeners' | 'cancel_statements' }>

/** A listening session's last statement is its ping. */
const WHICH: Readonly<Record<BackendFault['kind'], string>> = {
  terminate_backends: 'true',
  terminate_listeners: "query ~* '^(un)?listen|^notify'",
  cancel_statements: "state = 'active'",
}

/** What an administrator does to sessions. */
export async function injectIntoBackends(field: Field, { kind, share, salt }: BackendFault): Promise<FaultOutcome> {
  // The salt makes the choice; which sessions there are, nobody can draw beforehand.
  const chosen = `${WHICH[kind]} and abs(hashtext($1 || pid)::bigint) % 1000 < $2`
  const act = kind === 'cancel_statements' ? 'pg_cancel_backend' : 'pg_terminate_backend'
  return (await toSessions(field, act, chosen, [salt, share * 1_000])) > 0 ? 'done' : 'skipped'
}

/** Cancels or terminates those of our processes' sessions that meet a condition; returns how many. */
export async function toSessions(
  field: Field,
  act: 'pg_cancel_backend' | 'pg_terminate_backend',
  condition: string,
  values: readonly unknown[],
): Promise<number> {
  try {
    return await field.servers.ask(async (client) => {
      const { rowCount } = await client.query(
        `select ${act}(pid) from pg_stat_activity
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
