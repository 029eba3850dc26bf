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
  readonly nextAt: Date | null
  readonly runs: number
}

/** What stands in a select list to read `source.schedule` as a {@link ScheduleRow}. */
export function scheduleColumns(schedule: string): string {
  const milliseconds = (column: string, name: string): string =>
    `1000 * date_part('epoch', (${schedule}).${column}) as "${name}"`
  return [
    `(${schedule}).key`,
    `(${schedule}).cron`,
    milliseconds('every', 'everyMs'),
    `(${schedule}).anchor`,
    `(${schedule}).timezone`,
    `(${schedule}).catch_up as "catchUp"`,
    milliseconds('catch_up_window', 'catchUpWindowMs'),
    milliseconds('grace', 'graceMs'),
    `(${schedule}).starts_at as "startsAt"`,
    `(${schedule}).ends_at as "endsAt"`,
    `(${schedule}).max_runs as "maxRuns"`,
    `(${schedule}).revision`,
    `(${schedule}).planned`,
    `(${schedule}).next_at as "nextAt"`,
    `(${schedule}).runs::double precision as runs`,
  ].join(', ')
}
