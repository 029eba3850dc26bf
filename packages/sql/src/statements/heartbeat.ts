import type { Queryable } from '../connection.js'
import { type TaskTypeName, verbOf } from '../task-type-name.js'
import type { TaskState } from '../template-row.js'
import type { Run } from './finish-many.js'
import { idsOf, tokensOf } from './run-arrays.js'

/** Why a run no longer has its task: the state that it is in by this run's own doing, or what others did. */
export type GoneReason = TaskState | 'missing' | 'reset' | 'lost'

/** What a heartbeat tells. */
export interface HeartbeatResult {
  readonly gone: ReadonlyArray<{ readonly id: string; readonly reason: GoneReason }>
  /** Whether a lease of somebody else has ended. */
  readonly rescueDue: boolean
  /** Whether a task that was lost twice waits for a worker whose slots are empty. */
  readonly suspectDue: boolean
  /** Runs under the worker's lease that it did not name: it never got the answer to their acquire. Only if asked for. */
  readonly strays: readonly Run[]
}

/** Renews the worker's lease of a type and asks which of its runs are no longer its own. */
export async function heartbeat(
  connection: Queryable,
  type: TaskTypeName,
  workerId: string,
  runs: readonly Run[],
  options: { readonly findStrays?: boolean } = {},
): Promise<HeartbeatResult> {
  const result = await connection.query(
    `select gone_ids::text[] as ids, gone_reasons as reasons, rescue_due as "rescueDue", suspect_due as "suspectDue",
       stray_ids::text[] as "strayIds", stray_tokens::text[] as "strayTokens"
     from ${verbOf(type, 'heartbeat')}($1::uuid, $2::bigint[], $3::uuid[], $4::boolean)`,
    [workerId, idsOf(runs), tokensOf(runs), options.findStrays ?? false],
  )
  const row = result.rows[0] as HeartbeatRow
  const gone = (row.ids ?? []).map((id, index) => ({ id, reason: row.reasons?.[index] as GoneReason }))
  const strays = (row.strayIds ?? []).map((id, index) => ({ id, token: row.strayTokens?.[index] as string }))
  return { gone, rescueDue: row.rescueDue, suspectDue: row.suspectDue, strays }
}

interface HeartbeatRow {
  readonly ids: string[] | null
  readonly reasons: GoneReason[] | null
  readonly rescueDue: boolean
  readonly suspectDue: boolean
  readonly strayIds: string[] | null
  readonly strayTokens: string[] | null
}
