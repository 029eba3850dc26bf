import type { Queryable } from '../connection.js'
import type { Run } from './finish-many.js'

/** What is known of a step before it is done. */
export interface StepStart {
  readonly marked: boolean
  /** What the step returned when it was done, as JSON text; null: nothing. */
  readonly value: string | null
  /** The same at every attempt of the task, and in no other task or database. */
  readonly idempotencyKey: string
}

/** How far a step's statements go into the way of other transactions. */
export interface StepLock {
  /**
   * Whether the connection is another one than that of the transaction in which the handler works: then a task that some
   * transaction holds is told at once, and never waited for.
   */
  readonly apart: boolean
}

/**
 * Looks whether a step of a running task is marked; raises TQ001 if the run no longer has its task, and apart from the
 * handler's transaction TQ013 if a transaction holds it.
 */
export async function beginStep(
  connection: Queryable,
  tableId: string,
  run: Run,
  step: string,
  { apart }: StepLock,
): Promise<StepStart> {
  // Texts: what a jsonb or a boolean becomes in JavaScript is a setting of the caller's driver.
  const result = await connection.query(
    `select case when marked then 'yes' else 'no' end as marked, value::text as value, idempotency_key as "idempotencyKey"
     from tasks.begin_step($1::oid, $2::bigint, $3::uuid, $4::text, $5::boolean)`,
    [tableId, run.id, run.token, step, apart],
  )
  const row = result.rows[0] as Omit<StepStart, 'marked'> & { readonly marked: string }
  return { ...row, marked: row.marked === 'yes' }
}

/** Marks a step of a running task as done. @param value - JSON text; null: nothing */
export async function markStep(
  connection: Queryable,
  tableId: string,
  run: Run,
  step: string,
  value: string | null,
  { apart }: StepLock,
): Promise<void> {
  // As text, because Prisma refuses a column of type void.
  await connection.query(
    'select tasks.mark_step($1::oid, $2::bigint, $3::uuid, $4::text, $5::jsonb, $6::boolean)::text',
    [tableId, run.id, run.token, step, value, !apart],
  )
}
