import type { Queryable } from '../connection.js'

/**
 * How a column takes a value that comes as text: as it is (`scalar`), as JSON (`json`), or in a way that depends on the
 * value (`other`: arrays, row types; `json_array`: arrays of JSON).
 */
export type ColumnKind = 'scalar' | 'json' | 'json_array' | 'other'

/** Columns of a table by name. */
export type ColumnKinds = ReadonlyMap<string, ColumnKind>

/** How long what was learned is taken for true, in milliseconds: a column's type may be altered. */
const TRUE_FOR_MS = 60_000

interface Learned {
  readonly kinds: ColumnKinds
  readonly at: number
}

/** Per connection, because the same name may stand for another table in another database. */
const learnedOn = new WeakMap<Queryable, Map<string, Learned | 'asked once'>>()

/**
 * Kinds of a table's columns; undefined while it doesn't pay to ask the database: at the first single task on a connection.
 *
 * @param table - quoted
 * @param ask - whether it pays
 */
export async function columnKinds(
  connection: Queryable,
  table: string,
  ask: boolean,
): Promise<ColumnKinds | undefined> {
  let learned = learnedOn.get(connection)
  if (learned === undefined) {
    learned = new Map()
    learnedOn.set(connection, learned)
  }
  const known = learned.get(table)
  if (known === undefined && !ask) {
    learned.set(table, 'asked once')
    return undefined
  }
  const now = performance.now()
  if (typeof known === 'object' && now - known.at < TRUE_FOR_MS) return known.kinds
  const kinds = await readKinds(connection, table)
  learned.set(table, { kinds, at: now })
  return kinds
}

async function readKinds(connection: Queryable, table: string): Promise<ColumnKinds> {
  const { rows } = await connection.query(
    `select a.attname::text as name,
       case
         when b.oid in ('pg_catalog.json'::regtype, 'pg_catalog.jsonb'::regtype) then 'json'
         when b.oid in ('pg_catalog.json[]'::regtype, 'pg_catalog.jsonb[]'::regtype) then 'json_array'
         when b.typtype in ('b', 'e', 'r', 'm') and b.typcategory <> 'A' then 'scalar'
         else 'other'
       end as kind
     from pg_catalog.pg_attribute a
     join pg_catalog.pg_type t on t.oid = a.atttypid
     join pg_catalog.pg_type b on b.oid = coalesce(nullif(t.typbasetype, 0), t.oid)
     where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped`,
    [table],
  )
  return new Map((rows as Array<{ name: string; kind: ColumnKind }>).map(({ name, kind }) => [name, kind]))
}
