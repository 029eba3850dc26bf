import type { Queryable } from '../connection.js'
import { type TaskTypeName, verbOf } from '../task-type-name.js'

/** How a run ends. */
export interface FinishOptions {
  readonly comment?: string | undefined
  /** The run's token; without one the call wins only while the task is running. */
  readonly token?: string | undefined
}

/** Finishes a running task; raises TQ001 unless this run may. */
export async function finish(
  connection: Queryable,
  type: TaskTypeName,
  id: string,
  options: FinishOptions,
): Promise<void> {
  // As text, because Prisma refuses a column of type void.
  await connection.query(`select ${verbOf(type, 'finish')}($1::bigint, null, $2::text, $3::uuid)::text`, [
    id,
    options.comment ?? null,
    options.token ?? null,
  ])
}
