import type { NewSchedule } from '@pg-tasks/sql'
import { refuseUnknown } from '../options/refuse-unknown.js'
import { optionsOf } from '../task/check-task.js'
import type { Columns, NewTask } from '../task/claimed.js'
import type { Task } from '../task/task.js'
import { refuse } from './refuse.js'
import { resolveScheduleTiming, type ScheduleTimingOptions } from './timing.js'

const OVERLAP = ['allow', 'skip', 'buffer_one'] as const

/** What happens at an occurrence while a task of the schedule is unfinished. */
export type Overlap = (typeof OVERLAP)[number]

/** When a schedule enqueues, and under which name it is known. */
export interface ScheduleOptions extends ScheduleTimingOptions {
  /** Name of the schedule, unique in the database. */
  readonly key: string
  /**
   * While a task of the schedule is unfinished: `allow` another, `skip` the occurrence, or keep one that waits
   * (`buffer_one`). Skipped occurrences stand in the ledger.
   * @defaultValue 'allow'
   */
  readonly overlap?: Overlap
}

const KNOWN: ReadonlyArray<keyof ScheduleOptions> = [
  'key',
  'overlap',
  'cron',
  'everyMs',
  'timezone',
  'anchor',
  'startsAt',
  'endsAt',
  'maxRuns',
  'catchUp',
  'catchUpWindowMs',
  'graceMs',
  'jitterMs',
]

/** Columns of a schedule's tasks: those of a new task but `planned_to`, which the occurrence gives. */
export type ScheduledColumns<Own extends Columns> = Omit<NewTask<Own>, 'planned_to'>

/**
 * Checks a schedule before anything is stored.
 *
 * @throws InvalidOptionError for the first option that can't be used
 */
export function resolveSchedule<Own extends Columns>(
  task: Task<Own>,
  options: ScheduleOptions,
  columns: ScheduledColumns<Own>,
  origin: NewSchedule['origin'],
): NewSchedule {
  refuseUnknown('Schedule', options, KNOWN)
  const { key, overlap = 'allow' } = options
  if (typeof key !== 'string' || key === '' || key.includes('\u0000')) refuse('key', key, 'give the schedule a name')
  if (!OVERLAP.includes(overlap)) refuse('overlap', overlap, `give one of ${OVERLAP.join(', ')}`)
  const { schema, table } = optionsOf(task)
  return {
    ...resolveScheduleTiming(options),
    key,
    overlap,
    schema,
    table,
    columns: columns as NewSchedule['columns'],
    origin,
  }
}
