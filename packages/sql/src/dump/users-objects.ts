import { OWN_TABLES } from './own-tables.js'

const OURS = OWN_TABLES.map((table) => `'${table}'`).join(', ')

/** Condition on a namespace `n`: a schema of the users', or tasks, which has tables of theirs. */
export const USERS_SCHEMA = `n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`

/** Condition on a class `c` with its namespace `n`: not ours, and not an extension's. */
export const USERS_CLASS = `${USERS_SCHEMA} and not (n.nspname = 'tasks' and c.relname in (${OURS}))
  and not exists (select from pg_catalog.pg_depend x where x.classid = 'pg_catalog.pg_class'::regclass and x.objid = c.oid and x.deptype = 'e')`

/** Condition on any object: not an extension's. */
export function notOfExtension(catalog: string, oid: string): string {
  return `not exists (select from pg_catalog.pg_depend x where x.classid = 'pg_catalog.${catalog}'::regclass and x.objid = ${oid} and x.deptype = 'e')`
}
