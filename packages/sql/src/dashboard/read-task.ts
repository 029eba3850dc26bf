import type { Queryable } from '../connection.js'
import { quoteIdentifier } from '../quote-identifier.js'
import { type TaskTypeName, tableOf } from '../task-type-name.js'
import type { TaskState } from '../template-row.js'
import { MASKED } from './browse-tasks.js'
import { stateOf } from './state-conditions.js'
import { NOW } from './task-selection.js'

/** One attempt, from the history of a type that keeps one. */
export interface TaskAttempt {
  readonly attempt: number
  readonly workerId: string | null
  readonly startedAt: string
  readonly endedAt: string
  readonly outcome: string
  readonly error: string | null
}

/** A step that is done. */
export interface TaskMark {
  readonly step: string
  readonly attempt: number
  readonly markedAt: string
}

/** Everything that is known of one task; times as PostgreSQL writes them, in UTC. */
export interface TaskDetails {
  readonly id: string
  readonly state: TaskState
  /** Whether it waits for others of its key. */
  readonly held: boolean
  readonly values: Readonly<Record<string, string | null>>
  /** End of the lease under which it runs; null: it doesn't, or the lease has none. */
  readonly leasedUntil: string | null
  readonly attempts: readonly TaskAttempt[]
  readonly marks: readonly TaskMark[]
  readonly group: {
    readonly key: string
    readonly finished: number
    readonly failed: number
    readonly canceled: number
    readonly endedAt: string | null
  } | null
}

/** What of a task is read. */
export interface ReadTaskOptions {
  readonly show: readonly string[]
  readonly mask?: readonly string[] | undefined
}

/** How much of a value is read, in characters. */
const LONGEST = 100_000

/** The newest attempts that are read. */
const ATTEMPTS = 200

/** A task with its attempts, marks and group; undefined if there is none of this id. */
export async function readTask(
  connection: Queryable,
  type: TaskTypeName,
  id: string,
  { show, mask = [] }: ReadTaskOptions,
): Promise<TaskDetails | undefined> {
  const columns = [...show, ...mask]
  const list = columns.map((name, index) => {
    const quoted = `t.${quoteIdentifier(name)}`
    const value = mask.includes(name)
      ? `case when ${quoted} is not null then '${MASKED}' end`
      : `left(${quoted}::text, ${LONGEST})`
    return `, ${value} as c${index}`
  })
  const result = await connection.query(
    `select t.id::text as id, ${stateOf(NOW)} as state, t.held, t.group_key as group_key,
       case when t.started_at is not null then coalesce(t.run_until, (select l.leased_until from tasks.leases l where l.worker_id = t.run_worker and l.table_id = $2::regclass))::text end as leased_until
       ${list.join('')}
     from ${tableOf(type)} t where t.id = $1::bigint`,
    [id, tableOf(type)],
  )
  const row = result.rows[0] as {
    id: string
    state: TaskState
    held: boolean
    group_key: string | null
    leased_until: string | null
  } & Record<`c${number}`, string | null>
  if (row === undefined) return undefined
  const attempts = await connection.query(
    `select a.attempt, a.worker_id::text as "workerId", a.started_at::text as "startedAt", a.ended_at::text as "endedAt", a.outcome,
       ${mask.includes('last_error') ? `case when a.error is not null then '${MASKED}' end` : show.includes('last_error') ? `left(a.error, ${LONGEST})` : 'null::text'} as error
     from tasks.attempts a where a.table_id = $1::regclass and a.task_id = $2::bigint order by a.attempt desc, a.ended_at desc limit ${ATTEMPTS}`,
    [tableOf(type), id],
  )
  const marks = await connection.query(
    `select m.step, m.attempt, m.marked_at::text as "markedAt" from tasks.marks m
     where m.table_id = $1::regclass and m.task_id = $2::bigint order by m.marked_at limit ${ATTEMPTS}`,
    [tableOf(type), id],
  )
  // The key of a group is a column's value.
  const groupKey = show.includes('group_key') ? row.group_key : null
  const group = await connection.query(
    `select g.key, g.finished::double precision as finished, g.failed::double precision as failed, g.canceled::double precision as canceled,
       g.ended_at::text as "endedAt" from tasks.groups g where g.key = $1::text`,
    [groupKey],
  )
  return {
    id: row.id,
    state: row.state,
    held: row.held,
    values: Object.fromEntries(columns.map((name, index) => [name, row[`c${index}`] ?? null])),
    leasedUntil: row.leased_until,
    attempts: attempts.rows as TaskAttempt[],
    marks: marks.rows as TaskMark[],
    group: (group.rows[0] as TaskDetails['group'] | undefined) ?? null,
  }
}
