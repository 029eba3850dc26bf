import type { Queryable } from '../connection.js'

/**
 * Which of some transactions are committed. One that the server doesn't know, because it is long ago or was lost in a failover,
 * is not among them.
 */
export async function committedTransactions(
  connection: Queryable,
  transactionIds: readonly string[],
): Promise<ReadonlySet<string>> {
  // A transaction of the future, which a promoted standby may be asked about, would be an error.
  const result = await connection.query(
    `select x.id from pg_catalog.unnest($1::text[]) as x (id)
     where case when x.id::xid8 < pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())
       then pg_catalog.pg_xact_status(x.id::xid8) = 'committed' end`,
    [transactionIds],
  )
  return new Set((result.rows as Array<{ id: string }>).map(({ id }) => id))
}
