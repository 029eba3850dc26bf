import type { Queryable } from '../connection.js'
import { tableColumns } from '../tables.js'
import { type TaskTypeName, tableOf } from '../task-type-name.js'

/** How a column's values are compared, entered and shown. */
export type ColumnFamily = 'number' | 'text' | 'boolean' | 'time' | 'enum' | 'json' | 'array' | 'uuid' | 'other'

/** A column of a task table. */
export interface TaskColumn {
  readonly name: string
  /** As CREATE TABLE would write it: `numeric(10,2)`. */
  readonly type: string
  readonly family: ColumnFamily
  /** Whether the template brought it. */
  readonly template: boolean
  readonly notNull: boolean
  /** The default's expression; null: none. */
  readonly default: string | null
  /** Whether the database alone writes it: identity, or generated from others. */
  readonly generated: boolean
  readonly enumValues: readonly string[] | null
  /** The column that a foreign key of this column refers to: `shop.orders (id)`. */
  readonly references: string | null
  readonly comment: string | null
  /** Whether an index begins with it, so that a filter may look at all rows. */
  readonly indexed: boolean
  /** Whether an index gives its order, with few rows of equal value. */
  readonly sortable: boolean
}

type ReadColumn = Omit<TaskColumn, 'template'>

/**
 * The columns of a task table, in their order. A partial index serves some rows only, so it doesn't count. Rows of equal value are
 * sorted by id, which takes reading them all: so an order needs to have few of them, by the statistics.
 */
export async function taskColumns(
  connection: Queryable,
  type: Pick<TaskTypeName, 'schema' | 'table'>,
): Promise<TaskColumn[]> {
  const result = await connection.query(
    `select a.attname::text as name, format_type(a.atttypid, a.atttypmod) as type,
       case
         when b.typtype = 'e' then 'enum'
         when b.oid in ('json'::regtype, 'jsonb'::regtype) then 'json'
         when b.oid = 'uuid'::regtype then 'uuid'
         when b.oid in ('date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype) then 'time'
         when b.typcategory = 'N' then 'number'
         when b.typcategory = 'S' then 'text'
         when b.typcategory = 'B' then 'boolean'
         when b.typcategory = 'A' then 'array'
         else 'other'
       end as family,
       a.attnotnull as "notNull", a.attidentity <> '' or a.attgenerated <> '' as generated,
       case when a.attgenerated = '' then pg_get_expr(d.adbin, d.adrelid) end as "default",
       (select array_agg(e.enumlabel::text order by e.enumsortorder) from pg_catalog.pg_enum e where e.enumtypid = b.oid) as "enumValues",
       (select k.confrelid::regclass || ' (' || f.attname || ')' from pg_catalog.pg_constraint k
         join pg_catalog.pg_attribute f on f.attrelid = k.confrelid and f.attnum = k.confkey[array_position(k.conkey, a.attnum)]
         where k.conrelid = a.attrelid and k.contype = 'f' and a.attnum = any (k.conkey) order by cardinality(k.conkey) limit 1) as "references",
       col_description(a.attrelid, a.attnum) as comment,
       coalesce(x.indexed, false) as indexed,
       coalesce(x.unique_index, false) or coalesce(x.indexed, false) and case
         when c.reltuples < 10000 then true
         when s.n_distinct < 0 then s.n_distinct < -0.0002
         else c.reltuples / greatest(s.n_distinct, 1) <= 5000
       end as sortable
     from pg_catalog.pg_attribute a
     join pg_catalog.pg_class c on c.oid = a.attrelid
     join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     join pg_catalog.pg_type t on t.oid = a.atttypid
     join pg_catalog.pg_type b on b.oid = coalesce(nullif(t.typbasetype, 0), t.oid)
     left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     left join pg_catalog.pg_stats s on s.schemaname = n.nspname and s.tablename = c.relname and s.attname = a.attname and not s.inherited
     left join lateral (
       select true as indexed, bool_or(i.indisunique and i.indnkeyatts = 1) as unique_index
       from pg_catalog.pg_index i join pg_catalog.pg_class ic on ic.oid = i.indexrelid join pg_catalog.pg_am m on m.oid = ic.relam
       where i.indrelid = a.attrelid and i.indisvalid and i.indpred is null and m.amname = 'btree' and i.indkey[0] = a.attnum
       having count(*) > 0
     ) x on true
     where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped
     order by a.attnum`,
    [tableOf({ ...type, functionName: '' })],
  )
  return (result.rows as ReadColumn[]).map((column) => ({
    ...column,
    template: Object.hasOwn(tableColumns['tasks.template'], column.name),
  }))
}
