/** What a statement gives in postgres.js: the rows, with properties. */
export interface PostgresJsRows extends ReadonlyArray<Record<string, unknown>> {
  readonly count?: number | null
  readonly columns?: ReadonlyArray<{ readonly name: string; readonly type: number }>
}

/** Oids of date, timestamp, timestamptz, and their arrays. */
const TIMES = new Set([1082, 1114, 1184])
const ARRAYS_OF_TIMES = new Set([1182, 1115, 1185])

/** Drizzle turns the date parsers of a postgres.js client off, for all who use it; here they are read all the same. */
export function readDates(rows: PostgresJsRows): Array<Record<string, unknown>> {
  const columns = (rows.columns ?? []).filter(({ type }) => TIMES.has(type) || ARRAYS_OF_TIMES.has(type))
  const [first] = rows
  if (first === undefined || columns.every(({ name }) => typeof first[name] !== 'string' && first[name] !== null)) {
    return [...rows]
  }
  return rows.map((row) => {
    const read = { ...row }
    for (const { name, type } of columns) {
      const text = read[name]
      if (typeof text === 'string') read[name] = TIMES.has(type) ? dateOf(text) : datesOf(text)
    }
    return read
  })
}

/** As node-postgres reads it: infinity is a number. */
function dateOf(text: string): Date | number {
  if (text === 'infinity') return Number.POSITIVE_INFINITY
  return text === '-infinity' ? Number.NEGATIVE_INFINITY : new Date(text)
}

/** Arrays of one dimension; others stay text. */
function datesOf(text: string): unknown {
  if (!/^\{[^{}]*\}$/.test(text)) return text
  if (text === '{}') return []
  return text
    .slice(1, -1)
    .split(',')
    .map((element) => (element === 'NULL' ? null : dateOf(element.replaceAll('"', ''))))
}
