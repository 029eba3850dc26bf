import { CompiledQuery } from 'kysely'
import { PgTasksSqlError } from './errors.js'

/** What a statement gave. */
export interface QueryResult {
  // biome-ignore lint/suspicious/noExplicitAny: a row has the shape that its statement gives it
  readonly rows: any[]
  readonly rowCount: number | null
}

/** Whatever can run a statement: a pg Client, PoolClient or Pool, or anything with their `query(text, values)`. */
export interface Queryable {
  query(text: string, values?: readonly unknown[]): Promise<QueryResult>
}

/** The part of a Kysely or a Kysely Transaction that is used here, whatever its version and its tables. */
export interface KyselyLike {
  withoutPlugins(): KyselyLike
  executeQuery(query: CompiledQuery): Promise<{ readonly rows: unknown[]; readonly numAffectedRows?: bigint }>
}

/**
 * A connection of the caller's. What is called on it becomes part of the transaction that is open there; nothing here opens
 * or ends one.
 */
export type Connection = Queryable | KyselyLike

/**
 * Makes a Queryable of any connection. A Kysely runs the statement without its plugins: they would rename the columns.
 *
 * @throws {@link PgTasksSqlError} `INVALID_ARGUMENT` if it is none of what a connection can be
 */
export function toQueryable(connection: Connection): Queryable {
  if (isKysely(connection)) return fromKysely(connection)
  if (isQueryable(connection)) {
    // One and the same for a connection, so that what was learned on it can be kept with it.
    const known = queryables.get(connection)
    if (known !== undefined) return known
    const made = fromQueryable(connection)
    queryables.set(connection, made)
    return made
  }
  throw new PgTasksSqlError('INVALID_ARGUMENT', `connection is ${describe(connection)}: ${EXPECTED}`)
}

const queryables = new WeakMap<Queryable, Queryable>()

const EXPECTED =
  'give a pg Client, PoolClient or Pool, a Kysely or a Kysely Transaction, or an object with query(text, values).'

export function isKysely(connection: unknown): connection is KyselyLike {
  return hasMethod(connection, 'executeQuery') && hasMethod(connection, 'withoutPlugins')
}

export function isQueryable(connection: unknown): connection is Queryable {
  return hasMethod(connection, 'query')
}

function hasMethod(object: unknown, name: string): boolean {
  if ((typeof object !== 'object' && typeof object !== 'function') || object === null) return false
  return typeof (object as Record<string, unknown>)[name] === 'function'
}

function fromKysely(kysely: KyselyLike): Queryable {
  const plain = kysely.withoutPlugins()
  return {
    async query(text, values = []) {
      const { rows, numAffectedRows } = await plain.executeQuery(CompiledQuery.raw(text, [...values]))
      return { rows, rowCount: numAffectedRows === undefined ? rows.length : Number(numAffectedRows) }
    },
  }
}

/** Without values, none are passed on: the statement then goes by the simple protocol, which takes several at once. */
function fromQueryable(queryable: Queryable): Queryable {
  return {
    query: (text, values) =>
      values === undefined || values.length === 0 ? queryable.query(text) : queryable.query(text, [...values]),
  }
}

function describe(value: unknown): string {
  if (value === undefined || value === null) return String(value)
  if (hasMethod(value, 'then')) return 'a promise (is an await missing?)'
  if (typeof value === 'string') return 'a string'
  if (typeof value === 'function') return `the ${/^class\b/.test(String(value)) ? 'class' : 'function'} ${value.name}`
  if (typeof value !== 'object') return `the ${typeof value} ${String(value)}`
  return `an object of ${value.constructor?.name ?? 'no class'}`
}
