import type { Queryable } from '../connection.js'
import { idArray } from './run-arrays.js'

/**
 * Writes a batch down whose tasks were acquired with `oneTransaction` in another session's open transaction.
 *
 * @returns its number; undefined, and nothing is written, if one of the tasks stands in a batch that did not commit: roll back
 * and call {@link suspectBatches}
 */
export async function openBatch(
  connection: Queryable,
  tableId: string,
  workerId: string,
  taskIds: readonly string[],
): Promise<string | undefined> {
  const result = await connection.query('select tasks.open_batch($1::oid, $2::uuid, $3::bigint[])::text as id', [
    tableId,
    workerId,
    idArray(taskIds),
  ])
  return (result.rows[0] as { id: string | null }).id ?? undefined
}

/** Takes the record of a batch away: in its own transaction, so that it goes if and only if that commits. */
export async function closeBatch(connection: Queryable, batchId: string): Promise<void> {
  await connection.query('select tasks.close_batch($1::bigint)', [batchId])
}

/** Makes suspects of the tasks of batches that did not commit; returns how many. */
export async function suspectBatches(connection: Queryable, tableId: string): Promise<number> {
  const result = await connection.query('select tasks.suspect_batches($1::oid)::int as count', [tableId])
  return (result.rows[0] as { count: number }).count
}
