import type { Queryable } from '../connection.js'

/** Gives a worker's lease of a type back, once it runs nothing of it any more. */
export async function closeLease(connection: Queryable, tableId: string, workerId: string): Promise<void> {
  await connection.query('delete from tasks.leases where worker_id = $1::uuid and table_id = $2::oid', [
    workerId,
    tableId,
  ])
}
