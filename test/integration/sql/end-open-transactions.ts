import type { Client } from 'pg'

/** Ends the other sessions of the database that a failed test has left in a transaction, so that the next test isn't blocked. */
export async function endOpenTransactions(session: Client): Promise<void> {
  await session.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and state like 'idle in transaction%'`,
  )
}
