import type { EnqueueOptions, OnConflict } from '@pg-tasks/sql'

/** When a new task is due, and what it does where it meets its like. */
export interface EnqueueTaskOptions<Conflict extends OnConflict | undefined = OnConflict | undefined>
  extends EnqueueOptions {
  /**
   * What a task does that meets its like, where a type's tasks are unique (`uniqueWhile`): `ignore`, `replace`, `postpone` or
   * `advance`; without it the driver's 23505 is raised.
   */
  readonly onConflict?: Conflict | undefined
}

/** What enqueueing gives: with `onConflict`, null where it can't be told which task is there. */
export type EnqueuedId<Conflict extends OnConflict | undefined> = [Conflict] extends [undefined]
  ? string
  : string | null

/** What may be said with a finish or a cancel. */
export interface CommentOption {
  /** Stored with the task. */
  readonly comment?: string
}
