import type { Queryable } from '../connection.js'
import { type TaskTypeName, tableOf } from '../task-type-name.js'
import type { TaskState } from '../template-row.js'
import { IN_HELD_INDEX, IN_READY_INDEX, IN_SUSPECT_INDEX, stateCondition } from './state-conditions.js'

/** A number of tasks: exact, or about so many. */
export interface Count {
  readonly count: number
  readonly about: boolean
}

/** Tasks per state, and since when the longest waiting one is due. */
export interface TaskCounts {
  readonly states: Readonly<Record<TaskState, Count>>
  /** How long the oldest ready task has been due, in milliseconds; null: none is. */
  readonly oldestDueMs: number | null
  /** Milliseconds until the next scheduled task is due; null: there is none. */
  readonly nextDueMs: number | null
}

/** Up to here tasks are counted, one index entry each; beyond, the statistics of the state's index are taken. */
const COUNTED = 5_000

const ABOUT_HELD = `(select max(n.tuples) from noted n where starts_with(n.name, 'pg_tasks_held_'))`

interface Row {
  readonly ready: number
  readonly scheduled: number
  readonly suspects_ready: number
  readonly suspects_scheduled: number
  readonly held: number
  readonly running: number
  readonly finished: number
  readonly failed: number
  readonly canceled: number
  readonly about_waiting: number | null
  readonly about_held: number | null
  readonly about_running: number | null
  readonly about_finished: number | null
  readonly about_failed: number | null
  readonly about_canceled: number | null
  readonly oldest_due_ms: number | null
  readonly next_due_ms: number | null
}

/**
 * Counts the tasks of a type per state without reading its table: the partial index of each state up to 5,000 entries, and what
 * VACUUM and ANALYZE noted of the index beyond that.
 */
export async function countTasks(connection: Queryable, type: TaskTypeName, hasKeys = false): Promise<TaskCounts> {
  const table = tableOf(type)
  const upTo = (condition: string, by = ''): string =>
    `(select count(*)::integer from (select from ${table} t where ${condition} ${by} limit ${COUNTED + 1}) x)`
  // Priority by priority: the index is by priority first, and the time must bound what is read.
  const perPriority = (comparison: string): string =>
    `(select sum(n)::integer from generate_series(0, 3) p cross join lateral (
        select count(*) as n from (select from ${table} t where ${IN_READY_INDEX} and t.priority = p::smallint and t.planned_to ${comparison} clock.now limit ${COUNTED + 1}) x) y)`
  const first = (comparison: string): string =>
    `(select min(planned_to) from (
        select y.planned_to from generate_series(0, 3) p cross join lateral (
          select t.planned_to from ${table} t where ${IN_READY_INDEX} and t.priority = p::smallint and t.planned_to ${comparison} clock.now order by t.planned_to limit 1) y
        union all
        (select t.planned_to from ${table} t where ${IN_SUSPECT_INDEX} and t.planned_to ${comparison} clock.now order by t.planned_to limit 1)) z)`
  const noted = (index: string): string =>
    `(select n.tuples from noted n where n.shape = tasks.index_shape('tasks.template_${index}_idx'::regclass))`
  const result = await connection.query(
    `with clock as materialized (select tasks.clock() as now),
     noted as materialized (
       select c.relname::text as name, tasks.index_shape(i.indexrelid) as shape, nullif(c.reltuples, -1)::double precision as tuples
       from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = i.indexrelid
       where i.indrelid = $1::regclass and i.indpred is not null)
     select ${perPriority('<=')} as ready, ${perPriority('>')} as scheduled,
       ${upTo(`${IN_SUSPECT_INDEX} and t.planned_to <= clock.now`)} as suspects_ready,
       ${upTo(`${IN_SUSPECT_INDEX} and t.planned_to > clock.now`)} as suspects_scheduled,
       ${hasKeys ? upTo(IN_HELD_INDEX) : '0'} as held,
       ${upTo(stateCondition('running', 'clock.now'))} as running,
       ${upTo(stateCondition('finished', 'clock.now'), 'order by t.finished_at desc')} as finished,
       ${upTo(stateCondition('failed', 'clock.now'), 'order by t.failed_at desc')} as failed,
       ${upTo(stateCondition('canceled', 'clock.now'), 'order by t.canceled_at desc')} as canceled,
       ${noted('ready')} as about_waiting, ${hasKeys ? ABOUT_HELD : 'null'}::double precision as about_held, ${noted('running')} as about_running, ${noted('finished')} as about_finished,
       ${noted('failed')} as about_failed, ${noted('canceled')} as about_canceled,
       (1000 * extract(epoch from clock.now - ${first('<=')}))::double precision as oldest_due_ms,
       (1000 * extract(epoch from ${first('>')} - clock.now))::double precision as next_due_ms
     from clock`,
    [table],
  )
  const row = result.rows[0] as Row
  return { states: statesOf(row), oldestDueMs: row.oldest_due_ms, nextDueMs: row.next_due_ms }
}

function statesOf(row: Row): TaskCounts['states'] {
  const ready = row.ready + row.suspects_ready + row.held
  const scheduled = row.scheduled + row.suspects_scheduled
  const waiting = row.about_waiting ?? 0
  const held = Math.max(row.held, row.about_held ?? 0)
  return {
    // One of the two is exact more often than not, and the index knows both together.
    ready: capped(ready, Math.max(0, waiting - row.scheduled) + held),
    scheduled: capped(scheduled, Math.max(0, waiting - row.ready)),
    running: capped(row.running, row.about_running),
    finished: capped(row.finished, row.about_finished),
    failed: capped(row.failed, row.about_failed),
    canceled: capped(row.canceled, row.about_canceled),
  }
}

function capped(counted: number, about: number | null): Count {
  if (counted <= COUNTED) return { count: counted, about: false }
  return { count: Math.round(Math.max(counted - 1, about ?? 0)), about: true }
}
