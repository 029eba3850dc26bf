import { quoteLiteral } from '../../quote-literal.js'
import type { Check } from '../check.js'

/** Tables that look like task tables and are not registered: what is inserted there is never run. */
export const unregisteredCheck: Check = {
  name: 'unregistered',
  title: 'Unregistered tables',
  async examine({ connection }) {
    const { rows } = await connection.query(
      `select format('%I.%I', n.nspname, c.relname) as name, n.nspname::text as schema, c.relname::text as "table"
       from pg_catalog.pg_class c
       join pg_catalog.pg_namespace n on n.oid = c.relnamespace
       where c.relkind = 'r' and c.relpersistence <> 't'
         and c.oid <> 'tasks.template'::regclass
         and not exists (select from tasks.types y where y.table_id = c.oid)
         and not exists (select from pg_catalog.pg_depend d
           where d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
         and 5 = (select count(*) from pg_catalog.pg_attribute a
           where a.attrelid = c.oid and not a.attisdropped
             and a.attname in ('planned_to', 'started_at', 'finished_at', 'execution_count', 'canceled'))
         and c.relname not like 'original\\_%'
       order by 1`,
    )
    return (rows as Array<{ name: string; schema: string; table: string }>).map(({ name, schema, table }) => ({
      code: 'table_unregistered' as const,
      severity: 'warning' as const,
      subject: name,
      problem: `${name} has the columns of a task table and is not registered: its tasks are never run.`,
      remedy: `select tasks.register(${quoteLiteral(schema)}, ${quoteLiteral(table)});`,
      details: {},
    }))
  },
}
