import type { Queryable } from '../connection.js'
import { NOT_CARRIED, OWN_TABLES } from './own-tables.js'
import { USERS_CLASS } from './users-objects.js'

/** A table whose rows are carried over. */
export interface CopiedTable {
  /** Quoted, with its schema. */
  readonly name: string
  /** Quoted, for COPY. */
  readonly columns: string
  /** Rows according to the statistics: for a progress bar. */
  readonly estimate: number
  /** Ours: rows that the migrations put there are replaced. */
  readonly ours: boolean
}

/** The tables in the order in which rows can be put there: the users' first, because the registry names them. */
export async function copiedTables(connection: Queryable): Promise<CopiedTable[]> {
  const { rows } = await connection.query(
    `select format('%I.%I', n.nspname, c.relname) as name, greatest(c.reltuples, 0)::double precision as estimate,
       n.nspname = 'tasks' and c.relname = any ($1::text[]) as ours,
       coalesce((select string_agg(quote_ident(a.attname), ', ' order by a.attnum) from pg_catalog.pg_attribute a
         where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''), '') as columns
     from pg_catalog.pg_class c
     join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where (c.relkind = 'r' and not c.relispartition and ${USERS_CLASS})
       or (n.nspname = 'tasks' and c.relname = any ($1::text[]) and c.relname <> all ($2::text[]))
     order by 3, c.oid`,
    [OWN_TABLES, NOT_CARRIED],
  )
  return rows as CopiedTable[]
}

/** The statement that gives a table's rows; by way of a query, which takes partitioned tables too. */
export function copyOut({ name, columns }: CopiedTable): string {
  return `copy (select ${columns} from ${name}) to stdout`
}

/** The statement that takes them. */
export function copyIn({ name, columns }: CopiedTable): string {
  return `copy ${name} (${columns}) from stdin`
}

/** The statement that empties a table of ours first. */
export function emptyTable({ name }: CopiedTable): string {
  return `delete from ${name}`
}
