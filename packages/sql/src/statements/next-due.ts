import type { Queryable } from '../connection.js'
import { type TaskTypeName, verbOf } from '../task-type-name.js'

/** Milliseconds from now by the database's clock; null where there is nothing to wait for. */
export interface NextDue {
  /** Until a task is due; 0 where one is due that the last acquire did not get. */
  readonly readyInMs: number | null
  /** Until a lease of somebody else ends. */
  readonly rescueInMs: number | null
  /** Until acquire may sweep again; null where the last one did. */
  readonly sweepInMs: number | null
  /** Where a task is due already: until another one is. */
  readonly laterInMs: number | null
}

/** How long an idle worker may sleep. Ask on the session that acquired: the acquire cursor lives there. */
export async function nextDue(
  connection: Queryable,
  type: TaskTypeName,
  options: { readonly workerId: string; readonly slotsEmpty: boolean },
): Promise<NextDue> {
  const result = await connection.query(
    `select ready_in as "readyInMs", rescue_in as "rescueInMs", sweep_in as "sweepInMs", later_in as "laterInMs"
     from ${verbOf(type, 'next_due')}($1::uuid, $2::boolean)`,
    [options.workerId, options.slotsEmpty],
  )
  return result.rows[0] as NextDue
}
