import type { Queryable } from '../connection.js'

/** A column of a task table, as far as code must know it. */
export interface ColumnDescription {
  readonly name: string
  /** As SQL writes it: `character varying(20)`. */
  readonly type: string
  /** Name of the type that a value has: without length, a domain's own type, an array's elements. */
  readonly baseType: string
  readonly isArray: boolean
  /** Values of an enum; null: it is none. */
  readonly labels: readonly string[] | null
  readonly nullable: boolean
  /** Whether it may be left out of an INSERT: it has a default, or an identity. */
  readonly optional: boolean
  /** Whether PostgreSQL writes it, and nobody else may. */
  readonly generated: boolean
  readonly comment: string | null
}

/** The columns of a task table besides the template's, in their order. */
export async function ownColumns(connection: Queryable, tableId: string): Promise<ColumnDescription[]> {
  const { rows } = await connection.query(
    `select a.attname::text as name, format_type(a.atttypid, a.atttypmod) as type, e.typname::text as "baseType",
       b.typcategory = 'A' as "isArray",
       (select array_agg(l.enumlabel::text order by l.enumsortorder) from pg_catalog.pg_enum l where l.enumtypid = e.oid) as labels,
       not (a.attnotnull or t.typnotnull) as nullable, a.atthasdef or a.attidentity <> '' as optional,
       a.attgenerated <> '' or a.attidentity = 'a' as generated, col_description(a.attrelid, a.attnum) as comment
     from pg_catalog.pg_attribute a
     join pg_catalog.pg_type t on t.oid = a.atttypid
     join pg_catalog.pg_type b on b.oid = coalesce(nullif(t.typbasetype, 0), t.oid)
     join pg_catalog.pg_type e on e.oid = case when b.typcategory = 'A' then b.typelem else b.oid end
     where a.attrelid = $1::oid and a.attnum > 0 and not a.attisdropped
       and not exists (select from pg_catalog.pg_attribute o
         where o.attrelid = 'tasks.template'::regclass and o.attnum > 0 and o.attname = a.attname)
     order by a.attnum`,
    [tableId],
  )
  return rows as ColumnDescription[]
}
