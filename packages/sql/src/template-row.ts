/** State of a task; every task is in exactly one. */
export type TaskState = 'scheduled' | 'ready' | 'running' | 'finished' | 'failed' | 'canceled'

/** Why a task failed for good. */
export type FailureReason = 'error' | 'lost' | 'run_limit'

/**
 * The template's columns as the `pg` driver reads them with its default parsers: bigint as string, timestamptz as `Date`
 * (cut to milliseconds, so never compare one with its column).
 */
export interface TemplateRow {
  readonly id: string
  readonly created_at: Date
  readonly planned_to: Date
  readonly started_at: Date | null
  readonly finished_at: Date | null
  readonly execution_count: number
  readonly canceled: boolean
  readonly trace_id: string | null
  readonly comment: string | null
  readonly priority: number
  readonly run_token: string | null
  readonly run_worker: string | null
  readonly run_until: Date | null
  readonly lost_count: number
  readonly held: boolean
  readonly failed_at: Date | null
  readonly canceled_at: Date | null
  readonly failure_reason: FailureReason | null
  readonly last_error: string | null
  readonly schedule_key: string | null
  readonly occurrence_at: Date | null
  readonly schedule_trigger: 'schedule' | 'catchup' | 'backfill' | 'manual' | null
  readonly group_key: string | null
  readonly traceparent: string | null
}
