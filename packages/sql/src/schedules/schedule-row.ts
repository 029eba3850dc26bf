/** A schedule as the scheduler reads it; durations in milliseconds, instants in whole milliseconds. */
export interface ScheduleRow {
  readonly key: string
  readonly cron: string | null
  readonly everyMs: number | null
  readonly anchor: Date | null
  readonly timezone: string
  readonly catchUp: 'none' | 'latest' | 'all'
  readonly catchUpWindowMs: number
  readonly graceMs: number
  readonly startsAt: Date | null
  readonly endsAt: Date | null
  readonly maxRuns: number | null
  readonly revision: number
  readonly planned: boolean
  /** Of an unplanned one, the first occurrence is the first after this. */
  readonly planAfter: Date
  readonly nextAt: Date | null
  readonly runs: number
}

/** What stands in a select list to read a row of `tasks.schedules` as a {@link ScheduleRow}. */
export function scheduleColumns(schedule: string): string {
  return [
    `(${schedule}).key`,
    `(${schedule}).cron`,
    `${milliseconds(`(${schedule}).every`)} as "everyMs"`,
    `(${schedule}).anchor`,
    `(${schedule}).timezone`,
    `(${schedule}).catch_up as "catchUp"`,
    `${milliseconds(`(${schedule}).catch_up_window`)} as "catchUpWindowMs"`,
    `${milliseconds(`(${schedule}).grace`)} as "graceMs"`,
    `(${schedule}).starts_at as "startsAt"`,
    `(${schedule}).ends_at as "endsAt"`,
    `(${schedule}).max_runs as "maxRuns"`,
    `(${schedule}).revision`,
    `(${schedule}).planned`,
    `(${schedule}).plan_after as "planAfter"`,
    `(${schedule}).next_at as "nextAt"`,
    `(${schedule}).runs::double precision as runs`,
  ].join(', ')
}

/** An interval in whole milliseconds, so that no sum of them misses an instant by a fraction. */
export function milliseconds(interval: string): string {
  return `round(1000 * extract(epoch from ${interval}))::double precision`
}
