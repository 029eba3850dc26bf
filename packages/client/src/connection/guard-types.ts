import { type CustomTypesConfig, types } from 'pg'

/** Stands in a row for a value that its type parser refused. */
class UnreadableValue {
  readonly error: unknown

  constructor(error: unknown) {
    this.error = error
  }
}

/** Nearly always false: then no row needs to be searched. */
let everUnreadable = false

/**
 * Type parsers that don't throw. Parsers may be the user's own, set for all of `pg`, and one value that such a parser refuses
 * (`infinity`, a date BC) would cost the whole answer: tasks that were acquired, and nobody knows.
 */
export function guardTypes(given: CustomTypesConfig | undefined): CustomTypesConfig {
  const parsers = given ?? (types as CustomTypesConfig)
  const getTypeParser = (oid: number, format?: 'text' | 'binary') => {
    const parse = parserOf(parsers, oid, format)
    // Made anew for each column of an answer, and there one instant often stands in row after row.
    let lastText: string | undefined
    let lastTime = 0
    return (value: string): unknown => {
      if (value === lastText) return new Date(lastTime)
      try {
        const parsed = parse(value)
        if (parsed instanceof Date && parsed.constructor === Date) {
          lastText = value
          lastTime = parsed.getTime()
        }
        return parsed
      } catch (error) {
        everUnreadable = true
        return new UnreadableValue(error)
      }
    }
  }
  return { getTypeParser: getTypeParser as CustomTypesConfig['getTypeParser'] }
}

/** Where none is to be had, the driver would throw while it reads an answer, past everybody who waits for that. */
function parserOf(parsers: CustomTypesConfig, oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  try {
    return parsers.getTypeParser(oid, format as 'text') as (value: string) => unknown
  } catch (error) {
    return () => {
      throw error
    }
  }
}

/** The first value of a row that could not be read. */
export function unreadableIn(row: object): UnreadableValue | undefined {
  if (!everUnreadable) return undefined
  const values = row as Readonly<Record<string, unknown>>
  for (const column in values) {
    const value = values[column]
    if (value instanceof UnreadableValue) return value
  }
  return undefined
}
