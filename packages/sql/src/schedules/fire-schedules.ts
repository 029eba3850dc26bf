import type { Queryable } from '../connection.js'

/** What one pass decided about one due schedule. */
export interface ScheduleFiring {
  readonly key: string
  readonly revision: number
  /** The watermark from which it was computed. */
  readonly expected: Date
  readonly nextAt: Date | null
  readonly occurrences: ReadonlyArray<{ readonly occurrenceAt: Date; readonly trigger: 'schedule' | 'catchup' }>
  readonly dropped: number
}

/**
 * What became of it: `fired`; `overtaken`: another scheduler was faster, or the schedule was changed; `left`: there was no time
 * for it in this statement; `failed`: for a reason that may pass, to be tried again; `refused`: set aside until it is mended.
 */
export type FiringOutcome = 'fired' | 'overtaken' | 'left' | 'failed' | 'refused'

export interface FiringResult {
  readonly key: string
  readonly outcome: FiringOutcome
  /** Tasks that were enqueued. */
  readonly enqueued: number
  /** Why it failed or was refused. */
  readonly error: string | null
}

/** Moves watermarks and enqueues occurrences, each once whoever calls. */
export async function fireSchedules(
  connection: Queryable,
  firings: readonly ScheduleFiring[],
  tzdata: string | null,
): Promise<FiringResult[]> {
  if (firings.length === 0) return []
  const rows = firings.map((firing) => ({
    key: firing.key,
    revision: firing.revision,
    expected: firing.expected,
    next_at: firing.nextAt,
    occurrences: firing.occurrences.map((one) => one.occurrenceAt),
    triggers: firing.occurrences.map((one) => one.trigger),
    dropped: firing.dropped,
  }))
  const result = await connection.query(
    `select w.key, f.outcome, f.enqueued, f.error
     from json_to_recordset($1::json) as w (key text, revision integer, expected timestamptz, next_at timestamptz,
       occurrences timestamptz[], triggers text[], dropped bigint)
     cross join lateral tasks.fire_schedule(w.key, w.revision, w.expected, w.next_at, w.occurrences, w.triggers, w.dropped, $2::text) f`,
    [JSON.stringify(rows), tzdata],
  )
  return result.rows as FiringResult[]
}

/** The next occurrence of a revision, or why none can be computed. */
export interface SchedulePlan {
  readonly key: string
  readonly revision: number
  readonly nextAt: Date | null
  readonly error: string | null
}

/** Stores what was computed for unplanned schedules, or anew; one with an error is set aside. */
export async function planSchedules(
  connection: Queryable,
  plans: readonly SchedulePlan[],
  tzdata: string | null,
): Promise<void> {
  if (plans.length === 0) return
  const rows = plans.map(({ key, revision, nextAt, error }) => ({ key, revision, next_at: nextAt, error }))
  await connection.query(
    `select tasks.plan_schedule(w.key, w.revision, w.next_at, $2::text, w.error)
     from json_to_recordset($1::json) as w (key text, revision integer, next_at timestamptz, error text)`,
    [JSON.stringify(rows), tzdata],
  )
}
