import type { Queryable } from '../connection.js'

/** Gives a worker's lease of a type back; false, and it stays, while the worker has running tasks of the type. */
export async function closeLease(connection: Queryable, tableId: string, workerId: string): Promise<boolean> {
  const result = await connection.query('select tasks.close_lease($1::uuid, $2::oid) as closed', [workerId, tableId])
  return (result.rows[0] as { closed: boolean }).closed
}
