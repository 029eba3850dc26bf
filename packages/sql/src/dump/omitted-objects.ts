import type { Queryable } from '../connection.js'
import { notOfExtension, USERS_CLASS, USERS_SCHEMA } from './users-objects.js'

/** What a dump of ours doesn't carry over, as far as it is there: a line each. */
export async function omittedObjects(connection: Queryable): Promise<string[]> {
  const { rows } = await connection.query(
    `select o.what from (
       select format('%s %I.%I', case c.relkind when 'p' then 'partitioned table' when 'f' then 'foreign table' else 'partition' end, n.nspname, c.relname) as what
       from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
       where (c.relkind in ('p', 'f') or c.relispartition and c.relkind = 'r') and ${USERS_CLASS} and not (n.nspname = 'tasks' and c.relname like 'attempts%')
       union all
       select format('child %I.%I of another table', n.nspname, c.relname)
       from pg_catalog.pg_inherits h join pg_catalog.pg_class c on c.oid = h.inhrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
       where c.relkind = 'r' and not c.relispartition and ${USERS_CLASS}
       union all
       select format('%s %I.%I', case t.typtype when 'd' then 'domain' when 'c' then 'composite type' else 'range type' end, n.nspname, t.typname)
       from pg_catalog.pg_type t join pg_catalog.pg_namespace n on n.oid = t.typnamespace
       where ${USERS_SCHEMA} and ${notOfExtension('pg_type', 't.oid')}
         and (t.typtype in ('d', 'r') or t.typtype = 'c' and exists (select from pg_catalog.pg_class c where c.oid = t.typrelid and c.relkind = 'c'))
       union all
       select format('aggregate %s', p.oid::regprocedure)
       from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
       where p.prokind in ('a', 'w') and ${USERS_SCHEMA} and ${notOfExtension('pg_proc', 'p.oid')}
       union all
       select format('policy %I on %s', p.polname, p.polrelid::regclass)
       from pg_catalog.pg_policy p join pg_catalog.pg_class c on c.oid = p.polrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
       where ${USERS_CLASS}
       union all
       select format('rule %I on %s', r.rulename, r.ev_class::regclass)
       from pg_catalog.pg_rewrite r join pg_catalog.pg_class c on c.oid = r.ev_class join pg_catalog.pg_namespace n on n.oid = c.relnamespace
       where r.rulename <> '_RETURN' and ${USERS_CLASS}
       union all
       select format('publication %I', p.pubname) from pg_catalog.pg_publication p
       union all
       select format('role %I', r.rolname) from pg_catalog.pg_roles r
       where r.rolname !~ '^pg_' and r.oid <> 10
       union all
       select format('database %I', d.datname) from pg_catalog.pg_database d
       where not d.datistemplate and d.datname <> current_database() and d.datname <> 'postgres'
       union all
       select format('%s large objects', count(*)) from pg_catalog.pg_largeobject_metadata having count(*) > 0
     ) o order by 1`,
  )
  return (rows as Array<{ what: string }>).map(({ what }) => what)
}
