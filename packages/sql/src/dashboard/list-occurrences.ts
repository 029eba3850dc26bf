import type { Queryable } from '../connection.js'

/** An occurrence of a schedule that was handled. */
export interface HandledOccurrence {
  readonly occurrenceAt: string
  readonly trigger: 'schedule' | 'catchup' | 'backfill' | 'manual'
  readonly outcome: string
  readonly taskId: string | null
  /** How late it was handled, in milliseconds. */
  readonly lagMs: number
}

/** The ledger of a schedule, newest first. */
export async function listOccurrences(connection: Queryable, key: string, limit = 50): Promise<HandledOccurrence[]> {
  const result = await connection.query(
    `select o.occurrence_at::text as "occurrenceAt", o.trigger, o.outcome, o.task_id::text as "taskId",
       (1000 * extract(epoch from o.created_at - o.occurrence_at))::double precision as "lagMs"
     from tasks.occurrences o where o.schedule_key = $1::text order by o.occurrence_at desc limit $2::integer`,
    [key, limit],
  )
  return result.rows as HandledOccurrence[]
}
