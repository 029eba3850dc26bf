import type { Queryable } from '../connection.js'
import { notOfExtension, USERS_CLASS, USERS_SCHEMA } from './users-objects.js'

async function statementsOf(connection: Queryable, query: string): Promise<string[]> {
  const { rows } = await connection.query(query)
  return (rows as Array<{ statement: string }>).map(({ statement }) => statement)
}

export function schemas(connection: Queryable): Promise<string[]> {
  return statementsOf(
    connection,
    `select format('create schema if not exists %I', n.nspname) as statement
     from pg_catalog.pg_namespace n where ${USERS_SCHEMA} and n.nspname <> 'tasks' order by n.oid`,
  )
}

export function extensions(connection: Queryable): Promise<string[]> {
  return statementsOf(
    connection,
    `select format('create extension if not exists %I schema %I', e.extname, n.nspname) as statement
     from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace
     where e.extname <> 'plpgsql' order by e.oid`,
  )
}

export function enums(connection: Queryable): Promise<string[]> {
  return statementsOf(
    connection,
    `select format('create type %I.%I as enum (%s)', n.nspname, t.typname,
       (select string_agg(quote_literal(l.enumlabel), ', ' order by l.enumsortorder) from pg_catalog.pg_enum l where l.enumtypid = t.oid)) as statement
     from pg_catalog.pg_type t join pg_catalog.pg_namespace n on n.oid = t.typnamespace
     where t.typtype = 'e' and ${USERS_SCHEMA} and ${notOfExtension('pg_type', 't.oid')} order by t.oid`,
  )
}

/** Those of identity columns come with their table. */
export function sequences(connection: Queryable): Promise<string[]> {
  return statementsOf(
    connection,
    `select format('create sequence %I.%I as %s increment by %s minvalue %s maxvalue %s start with %s cache %s%s', n.nspname, c.relname,
       format_type(s.seqtypid, null), s.seqincrement, s.seqmin, s.seqmax, s.seqstart, s.seqcache, case when s.seqcycle then ' cycle' else '' end) as statement
     from pg_catalog.pg_sequence s join pg_catalog.pg_class c on c.oid = s.seqrelid
     join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where ${USERS_CLASS} and not exists (select from pg_catalog.pg_depend d
       where d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid and d.deptype = 'i')
     order by c.oid`,
  )
}

export function tables(connection: Queryable): Promise<string[]> {
  return statementsOf(
    connection,
    `select format('create %stable %I.%I (%s)%s', case c.relpersistence when 'u' then 'unlogged ' else '' end, n.nspname, c.relname,
       (select string_agg(format('%I %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
           case when a.attcollation <> t.typcollation
             then (select format(' collate %I.%I', m.nspname, k.collname) from pg_catalog.pg_collation k join pg_catalog.pg_namespace m on m.oid = k.collnamespace where k.oid = a.attcollation)
             else '' end,
           case when a.attidentity <> '' then format(' generated %s as identity', case a.attidentity when 'a' then 'always' else 'by default' end)
             when a.attgenerated <> '' then format(' generated always as (%s) %s', pg_get_expr(d.adbin, d.adrelid), case a.attgenerated when 'v' then 'virtual' else 'stored' end) else '' end,
           case when a.attnotnull then ' not null' else '' end), ', ' order by a.attnum)
         from pg_catalog.pg_attribute a join pg_catalog.pg_type t on t.oid = a.atttypid
         left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
         where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
       coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', '')) as statement
     from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and not c.relispartition and ${USERS_CLASS} order by c.oid`,
  )
}

/** The verbs of task types, and all else of ours, are in the schema tasks. */
export function functions(connection: Queryable): Promise<string[]> {
  return statementsOf(
    connection,
    `select pg_get_functiondef(p.oid) as statement
     from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
     where p.prokind in ('f', 'p') and ${USERS_SCHEMA} and n.nspname <> 'tasks' and ${notOfExtension('pg_proc', 'p.oid')} order by p.oid`,
  )
}

export function defaults(connection: Queryable): Promise<string[]> {
  return statementsOf(
    connection,
    `select format('alter table %I.%I alter column %I set default %s', n.nspname, c.relname, a.attname, pg_get_expr(d.adbin, d.adrelid)) as statement
     from pg_catalog.pg_attrdef d
     join pg_catalog.pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
     join pg_catalog.pg_class c on c.oid = d.adrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and a.attgenerated = '' and not c.relispartition and ${USERS_CLASS} order by d.oid`,
  )
}

/** A sequence goes with the column that it belongs to. */
export function ownerships(connection: Queryable): Promise<string[]> {
  return statementsOf(
    connection,
    `select format('alter sequence %I.%I owned by %s.%I', n.nspname, c.relname, d.refobjid::regclass, a.attname) as statement
     from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid and d.deptype = 'a' and d.refobjsubid > 0
     join pg_catalog.pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
     where c.relkind = 'S' and ${USERS_CLASS} order by c.oid`,
  )
}

/** Where the numbers go on, of sequences and of identity columns, ours too. */
export async function sequenceValues(connection: Queryable): Promise<string[]> {
  // pg_sequences gives NULL for one that was never used.
  return statementsOf(
    connection,
    `select case when i.refobjid is null then format('select setval(%L, %s)', format('%I.%I', s.schemaname, s.sequencename), s.last_value)
         else format('select setval(pg_get_serial_sequence(%L, %L), %s)', i.refobjid::regclass::text,
           (select a.attname from pg_catalog.pg_attribute a where a.attrelid = i.refobjid and a.attnum = i.refobjsubid), s.last_value) end as statement
     from pg_catalog.pg_sequences s
     join pg_catalog.pg_namespace n on n.nspname = s.schemaname
     join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = s.sequencename
     left join pg_catalog.pg_depend i on i.classid = 'pg_catalog.pg_class'::regclass and i.objid = c.oid and i.deptype = 'i'
     where s.last_value is not null and ${USERS_SCHEMA} and ${notOfExtension('pg_class', 'c.oid')}
       and i.refobjid is distinct from to_regclass('tasks.template')
     order by c.oid`,
  )
}

/** Keys first, what refers to them last. What a partition or a domain has comes with it; NOT NULL is the column's. */
export function constraints(connection: Queryable): Promise<string[]> {
  return statementsOf(
    connection,
    `select format('alter table %I.%I add constraint %I %s', n.nspname, c.relname, k.conname, pg_get_constraintdef(k.oid)) as statement
     from pg_catalog.pg_constraint k
     join pg_catalog.pg_class c on c.oid = k.conrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where k.contype in ('p', 'u', 'x', 'c', 'f') and c.relkind = 'r' and not c.relispartition and ${USERS_CLASS}
     order by array_position(array['p', 'u', 'x', 'c', 'f']::"char"[], k.contype), k.oid`,
  )
}

export function indexes(connection: Queryable): Promise<string[]> {
  return statementsOf(
    connection,
    `select pg_get_indexdef(i.indexrelid) as statement
     from pg_catalog.pg_index i
     join pg_catalog.pg_class c on c.oid = i.indrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and not c.relispartition and ${USERS_CLASS}
       and not exists (select from pg_catalog.pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
     order by i.indexrelid`,
  )
}

/** In the order in which they were made, which is one that can be repeated unless one was replaced since. */
export function views(connection: Queryable): Promise<string[]> {
  return statementsOf(
    connection,
    `select format('create %s %I.%I as %s', case c.relkind when 'm' then 'materialized view' else 'view' end, n.nspname, c.relname,
       rtrim(pg_get_viewdef(c.oid), ';')) as statement
     from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('v', 'm') and n.nspname <> 'tasks' and ${USERS_CLASS} order by c.oid`,
  )
}

export function triggers(connection: Queryable): Promise<string[]> {
  return statementsOf(
    connection,
    `select pg_get_triggerdef(t.oid) as statement
     from pg_catalog.pg_trigger t
     join pg_catalog.pg_class c on c.oid = t.tgrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where not t.tgisinternal and c.relkind in ('r', 'v') and not c.relispartition and ${USERS_CLASS} order by t.oid`,
  )
}
