import { type Connection, isKysely, isQueryable, type Queryable, type QueryResult, toQueryable } from './connection.js'

/** Names of the statements that were prepared on any connection; beyond so many they go unprepared. */
const names = new Map<string, string>()
const MOST_NAMES = 1_000

const made = new WeakMap<Queryable, Queryable>()

/**
 * As {@link toQueryable}, with statements that a pg Client or Pool prepares by name: the server parses and plans each once per
 * connection. Only for statements whose result has the same columns for ever, and for connections that aren't shared through a
 * pooler in transaction mode. A Kysely has no names for its statements; there it is the same as `toQueryable`.
 */
export function toPreparedQueryable(connection: Connection): Queryable {
  if (isKysely(connection) || !isQueryable(connection)) return toQueryable(connection)
  const known = made.get(connection)
  if (known !== undefined) return known
  const preparing = preparingQueryable(connection)
  made.set(connection, preparing)
  return preparing
}

function preparingQueryable(queryable: Queryable): Queryable {
  const plain = toQueryable(queryable)
  // node-postgres takes a statement with its name as one object.
  const query = queryable.query.bind(queryable) as unknown as (statement: object) => Promise<QueryResult>
  return {
    query(text, values) {
      const name = values === undefined || values.length === 0 ? undefined : nameOf(text)
      return name === undefined ? plain.query(text, values) : query({ name, text, values: [...(values ?? [])] })
    },
  }
}

function nameOf(text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= MOST_NAMES) return known
  const name = `pg_tasks_${names.size + 1}`
  names.set(text, name)
  return name
}
