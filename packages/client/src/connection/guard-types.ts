import { type CustomTypesConfig, types } from 'pg'

/** Stands in a row for a value that its type parser refused. */
class UnreadableValue {
  readonly error: unknown

  constructor(error: unknown) {
    this.error = error
  }
}

/**
 * Type parsers that don't throw. Parsers may be the user's own, set for all of `pg`, and one value that such a parser refuses
 * (`infinity`, a date BC) would cost the whole answer: tasks that were acquired, and nobody knows.
 */
export function guardTypes(given: CustomTypesConfig | undefined): CustomTypesConfig {
  const parsers = given ?? (types as CustomTypesConfig)
  const getTypeParser = (oid: number, format?: 'text' | 'binary') => {
    const parse = parsers.getTypeParser(oid, format as 'text') as (value: string) => unknown
    return (value: string): unknown => {
      try {
        return parse(value)
      } catch (error) {
        return new UnreadableValue(error)
      }
    }
  }
  return { getTypeParser: getTypeParser as CustomTypesConfig['getTypeParser'] }
}

/** The first value of a row that could not be read. */
export function unreadableIn(row: object): UnreadableValue | undefined {
  const values = row as Readonly<Record<string, unknown>>
  for (const column in values) {
    const value = values[column]
    if (value instanceof UnreadableValue) return value
  }
  return undefined
}
