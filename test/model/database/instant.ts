const BEGINNING = Date.UTC(2030, 0, 1)

/** An instant of the trial (milliseconds after its beginning) as the database reads it. */
export function instant(ms: number): string {
  return new Date(BEGINNING + ms).toISOString()
}

/** SQL for an instant of the trial, from a column. */
export function instantColumn(column: string): string {
  return `round(extract(epoch from ${column} - timestamptz '${instant(0)}') * 1000)::bigint`
}
