import type { Queryable } from '../connection.js'
import { type TaskTypeName, tableOf, verbOf } from '../task-type-name.js'

/** For whom tasks are acquired. */
export interface AcquireOptions {
  /** Most tasks to acquire, from 1 to 10,000. */
  readonly maxNum: number
  /** The worker whose lease covers them; without one, each task carries its own end (`run_until`). */
  readonly workerId?: string | undefined
  /** Whether the caller runs nothing of this type: only then may it be given a suspect, a task that was lost twice. */
  readonly slotsEmpty?: boolean
  /**
   * Whether the tasks are run and settled in this connection's open transaction: no lease is taken, no suspect, and nothing of
   * a type with limits. Needs `workerId`, and a record of the batch; see {@link openBatch}.
   */
  readonly oneTransaction?: boolean
}

/** Claims due tasks in their order (priority, planned_to, id), with a new token each; rows of the user's table. */
export async function acquire<Row>(connection: Queryable, type: TaskTypeName, options: AcquireOptions): Promise<Row[]> {
  const { maxNum, workerId = null, slotsEmpty = true, oneTransaction = false } = options
  const mode = oneTransaction ? `, '{"one_transaction": true}'` : ''
  const call = `select * from ${verbOf(type, 'acquire')}($1::integer, $2::uuid, $3::boolean${mode})`
  // A worker's statement is prepared, and PostgreSQL doesn't see that its plan depends on the table: without the condition, which
  // is always true, a column that was renamed would keep its old name in the rows.
  const text =
    workerId === null ? call : `${call} where $1 is not null or exists (select from ${tableOf(type)} where false)`
  const result = await connection.query(text, [maxNum, workerId, slotsEmpty])
  return result.rows as Row[]
}
