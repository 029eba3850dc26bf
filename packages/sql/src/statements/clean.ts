import type { Queryable } from '../connection.js'
import { type TaskTypeName, verbOf } from '../task-type-name.js'

/** A state in which a task has ended. */
export type FinalState = 'finished' | 'failed' | 'canceled'

/** Which ended tasks are deleted. With neither `before` nor `olderThanMs` the type's `storage_time` decides. */
export interface CleanOptions {
  /** Those that ended before this instant. */
  readonly before?: Date | undefined
  /** Those that ended longer ago than this, in milliseconds, by the database's clock. */
  readonly olderThanMs?: number | undefined
  /** @defaultValue ['finished'] */
  readonly states?: readonly FinalState[] | undefined
  /** Most rows to delete. */
  readonly maxNum?: number | undefined
}

/** Deletes ended tasks, oldest first; returns how many. */
export async function clean(connection: Queryable, type: TaskTypeName, options: CleanOptions): Promise<number> {
  const { before, olderThanMs, states = ['finished'], maxNum } = options
  const [call, from] =
    before === undefined
      ? [`${verbOf(type, 'clean')}(make_interval(secs => $1::double precision / 1000),`, olderThanMs ?? null]
      : [`${verbOf(type, 'clean_before')}($1::timestamptz,`, before]
  const result = await connection.query(`select ${call} $2::text[], $3::bigint)::text as count`, [
    from,
    states,
    maxNum ?? null,
  ])
  return Number((result.rows[0] as { count: string }).count)
}
