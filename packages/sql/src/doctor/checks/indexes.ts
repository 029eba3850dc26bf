import type { Check } from '../check.js'
import type { Finding } from '../finding.js'

/** Indexes of the template that a task table lacks, and invalid ones: without them acquire reads whole tables. */
export const indexesCheck: Check = {
  name: 'indexes',
  title: 'Indexes',
  async examine({ connection, types }) {
    const findings: Finding[] = []
    for (const type of types) {
      const { rows: missing } = await connection.query(
        `select c.problem, c.remedy from tasks.check_table($1::oid::regclass) c where c.problem like 'index (%'`,
        [type.tableId],
      )
      for (const { problem, remedy } of missing as Array<{ problem: string; remedy: string }>) {
        findings.push({
          code: 'index_missing',
          severity: 'critical',
          subject: type.name,
          problem: `${type.name}: ${problem}.`,
          remedy: `${remedy.replace(/^create index on /, 'create index concurrently on ')};`,
          details: { index: problem.replace(/^index \((.*)\) is missing$/, '$1') },
        })
      }
      const { rows: invalid } = await connection.query(
        `select format('%I.%I', n.nspname, c.relname) as name
         from pg_catalog.pg_index i
         join pg_catalog.pg_class c on c.oid = i.indexrelid
         join pg_catalog.pg_namespace n on n.oid = c.relnamespace
         where i.indrelid = $1::oid and not i.indisvalid order by 1`,
        [type.tableId],
      )
      for (const { name } of invalid as Array<{ name: string }>) {
        findings.push({
          code: 'index_invalid',
          severity: 'warning',
          subject: type.name,
          problem: `The index ${name} is invalid: it is written to and never read. A CREATE INDEX CONCURRENTLY failed.`,
          remedy: `reindex index concurrently ${name};`,
          details: { index: name },
        })
      }
    }
    return findings
  },
}
