import type { Client } from 'pg'

/** Marks statements of the benchmark's own, so that they aren't counted. */
const OWN = '%bench\\_%'

/** Statements that clients sent to this database since the last reset; a database made for counting records them. */
export async function countStatements(client: Client): Promise<number> {
  const { rows } = await client.query(
    `select coalesce(sum(s.calls), 0)::float8 as bench_calls
     from public.pg_stat_statements s join pg_database d on d.oid = s.dbid
     where d.datname = current_database() and s.query not like $1`,
    [OWN],
  )
  return rows[0].bench_calls
}

export async function resetStatements(client: Client): Promise<void> {
  await client.query('create extension if not exists pg_stat_statements schema public')
  await client.query(
    `select public.pg_stat_statements_reset(0, d.oid, 0) as bench_reset from pg_database d where d.datname = current_database()`,
  )
}
