import type { TemplateRow } from '@pg-tasks/sql'

/** The columns of a task type besides the template's, as the driver reads them. */
export type Columns = object

/**
 * A task as its run holds it: the template's columns and the user's own, and the token that fences what the run does.
 *
 * Timestamps are `Date` and so cut to milliseconds; `id` and other bigints are strings.
 */
export type Claimed<Own extends Columns = object> = Omit<TemplateRow, 'run_token' | 'started_at'> & {
  /** Fencing token of this run. */
  readonly run_token: string
  readonly started_at: Date
} & Readonly<Own>

/** The template's columns that may be given when a task is enqueued. */
type EnqueueColumns = Partial<
  Pick<TemplateRow, 'planned_to' | 'priority' | 'trace_id' | 'comment' | 'group_key' | 'traceparent'>
>

type NullableKeys<Own> = { [Name in keyof Own]-?: null extends Own[Name] ? Name : never }[keyof Own]

/**
 * A task to be enqueued: columns that may be NULL can be left out, and so can those that are optional in the class's type
 * argument (because the table gives them a default). `undefined` means the column's default.
 */
export type NewTask<Own extends Columns = object> = Omit<Own, NullableKeys<Own>> &
  Partial<Pick<Own, NullableKeys<Own>>> &
  EnqueueColumns
