import type { Queryable } from '../connection.js'

/** How a table differs from what code expects of it. */
export interface MissingColumns {
  /** Expected, and not there. */
  readonly missing: readonly string[]
  /** There, must not be NULL, have no default, and are not expected: an INSERT that doesn't know them fails. */
  readonly required: readonly string[]
}

/** Compares a task table with the columns that code expects; those of the template are always expected. */
export async function missingColumns(
  connection: Queryable,
  tableId: string,
  columns: readonly string[],
): Promise<MissingColumns> {
  const { rows } = await connection.query(
    `with own as (
       select a.attname::text as name, a.attnum,
         a.attnotnull and not a.atthasdef and a.attidentity = '' and a.attgenerated = '' as required
       from pg_catalog.pg_attribute a where a.attrelid = $1::oid and a.attnum > 0 and not a.attisdropped
     )
     select
       array(select e.name from unnest($2::text[]) with ordinality as e (name, place)
         where not exists (select from own o where o.name = e.name) order by e.place) as missing,
       array(select o.name from own o
         where o.required and o.name <> all ($2::text[])
           and not exists (select from pg_catalog.pg_attribute t
             where t.attrelid = 'tasks.template'::regclass and t.attnum > 0 and t.attname = o.name)
         order by o.attnum) as required`,
    [tableId, columns],
  )
  return rows[0] as MissingColumns
}
