import type { Queryable } from '../connection.js'

/** An attempt that has ended. */
export interface PastAttempt {
  readonly attempt: number
  readonly startedAt: Date
  readonly endedAt: Date
  readonly outcome: string
  readonly error: string | null
}

/** A step that is marked. */
export interface MarkedStep {
  readonly step: string
  readonly attempt: number
  readonly markedAt: Date
}

/** What is kept of a task beside its row. */
export interface TaskHistory {
  /** Of types that keep history. */
  readonly attempts: readonly PastAttempt[]
  readonly marks: readonly MarkedStep[]
}

/** The attempts and marks of a task. */
export async function taskHistory(connection: Queryable, tableId: string, id: string): Promise<TaskHistory> {
  const attempts = await connection.query(
    `select a.attempt, a.started_at as "startedAt", a.ended_at as "endedAt", a.outcome, a.error
     from tasks.attempts a where a.table_id = $1::oid::regclass and a.task_id = $2::bigint order by a.attempt, a.ended_at`,
    [tableId, id],
  )
  const marks = await connection.query(
    `select m.step, m.attempt, m.marked_at as "markedAt"
     from tasks.marks m where m.table_id = $1::oid::regclass and m.task_id = $2::bigint order by m.marked_at, m.step`,
    [tableId, id],
  )
  return { attempts: attempts.rows as PastAttempt[], marks: marks.rows as MarkedStep[] }
}
