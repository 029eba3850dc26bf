import type { Queryable } from '../connection.js'
import { type TaskTypeName, tableOf, verbOf } from '../task-type-name.js'
import type { AcquireOptions } from './acquire.js'
import type { Run, UnfinishedOutcome, UnfinishedRun } from './finish-many.js'
import { idsOf, tokensOf } from './run-arrays.js'

/** What one transaction has finished and acquired. */
export interface FinishedAndAcquired<Row> {
  /** The runs that it did not finish, as `finishMany` tells them. */
  readonly unfinished: UnfinishedRun[]
  readonly rows: Row[]
}

/** A column of ours beside those of the user's table. */
interface Finished {
  readonly pg_tasks_unfinished: string | null
}

/**
 * What `finishMany` and then `acquire` do, in one statement, so that a task costs one commit. For few runs: in two statements on
 * two connections, many are finished while others are acquired. Not for types with limits, whose acquires wait for one another.
 */
export async function finishAndAcquire<Row extends { readonly id: string }>(
  connection: Queryable,
  type: TaskTypeName,
  runs: readonly Run[],
  { maxNum, workerId, slotsEmpty = true }: Pick<AcquireOptions, 'maxNum' | 'workerId' | 'slotsEmpty'>,
): Promise<FinishedAndAcquired<Row>> {
  // acquire takes its argument from the finish, so that it can't be called before. The condition is that of acquire.
  const text = `select a.*, f.unfinished as pg_tasks_unfinished
    from (
      select pg_catalog.string_agg(m.task_id || ' ' || m.outcome, ' ') as unfinished, 0 * pg_catalog.count(*)::integer as zero
      from ${verbOf(type, 'finish_many')}($1::bigint[], $2::uuid[]) m) f
    left join lateral ${verbOf(type, 'acquire')}($3::integer + f.zero, $4::uuid, $5::boolean) a on true
    where $3 is not null or exists (select from ${tableOf(type)} where false)`
  const values = [idsOf(runs), tokensOf(runs), maxNum, workerId, slotsEmpty]
  const result = await connection.query(text, values)
  const rows = result.rows as unknown as Array<Row & Finished>
  const unfinished = parseUnfinished(rows[0]?.pg_tasks_unfinished ?? '')
  // Without an acquired task there is one row, of nulls.
  return { unfinished, rows: rows.filter((row) => row.id !== null).map(withoutOurs) }
}

function withoutOurs<Row>(row: Row & Finished): Row {
  const { pg_tasks_unfinished: _, ...own } = row
  return own as Row
}

function parseUnfinished(text: string): UnfinishedRun[] {
  const words = text === '' ? [] : text.split(' ')
  return words.flatMap((id, index) => (index % 2 === 0 ? [{ id, outcome: words[index + 1] as UnfinishedOutcome }] : []))
}
