import type { Check } from '../check.js'
import type { Finding } from '../finding.js'

/** Whether dead rows are removed by themselves, in the server and for each table of the queue. */
export const autovacuumCheck: Check = {
  name: 'autovacuum',
  title: 'Autovacuum',
  async examine({ connection, types }) {
    const findings: Finding[] = []
    const { rows: settings } = await connection.query(
      `select s.name from unnest(array['autovacuum', 'track_counts']) as s (name) where current_setting(s.name) <> 'on'`,
    )
    for (const { name } of settings as Array<{ name: string }>) {
      findings.push({
        code: 'setting_off',
        severity: 'critical',
        subject: null,
        problem: `The server's setting ${name} is off: dead rows stay, and every acquire walks them.`,
        remedy: `alter system set ${name} = on; select pg_reload_conf();`,
        details: { setting: name },
      })
    }
    const { rows: tables } = await connection.query(
      `select format('%I.%I', n.nspname, c.relname) as name
       from pg_catalog.pg_class c
       join pg_catalog.pg_namespace n on n.oid = c.relnamespace
       where (c.oid = any ($1::oid[]) or n.nspname = 'tasks' and c.relkind = 'r')
         and exists (select from unnest(c.reloptions) as o (option) where o.option ~* '^autovacuum_enabled=(false|off|no|0)$')
       order by 1`,
      [types.map((type) => type.tableId)],
    )
    for (const { name } of tables as Array<{ name: string }>) {
      findings.push({
        code: 'autovacuum_off',
        severity: 'critical',
        subject: name,
        problem: `Autovacuum is off for ${name}: dead rows stay, and every acquire walks them.`,
        remedy: `alter table ${name} reset (autovacuum_enabled);`,
        details: {},
      })
    }
    return findings
  },
}
