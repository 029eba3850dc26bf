import type { Queryable } from '../connection.js'
import type { Run } from './finish-many.js'

/** What is known of a step before it is done. */
export interface StepStart {
  readonly marked: boolean
  /** What the step returned when it was done. */
  readonly value: unknown
  /** The same at every attempt of the task, and in no other task or database. */
  readonly idempotencyKey: string
}

/** Looks whether a step of a running task is marked; raises TQ001 if the run no longer has its task. */
export async function beginStep(connection: Queryable, tableId: string, run: Run, step: string): Promise<StepStart> {
  const result = await connection.query(
    `select marked, value, idempotency_key as "idempotencyKey" from tasks.begin_step($1::oid, $2::bigint, $3::uuid, $4::text)`,
    [tableId, run.id, run.token, step],
  )
  return result.rows[0] as StepStart
}

/** Marks a step of a running task as done. @param value - JSON text */
export async function markStep(
  connection: Queryable,
  tableId: string,
  run: Run,
  step: string,
  value: string | null,
): Promise<void> {
  await connection.query('select tasks.mark_step($1::oid, $2::bigint, $3::uuid, $4::text, $5::jsonb)', [
    tableId,
    run.id,
    run.token,
    step,
    value,
  ])
}
