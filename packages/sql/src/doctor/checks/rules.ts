import { quoteLiteral } from '../../quote-literal.js'
import type { Check } from '../check.js'
import type { Finding } from '../finding.js'

interface RuleRow {
  readonly schema: string
  readonly table: string
  readonly name: string
  /** As they were called when the limit was set; null: what it needs is there. */
  readonly lostKeys: string[] | null
  readonly lostUnique: string[] | null
}

/** Whether the columns are there by which tasks are kept in order, or unique: a renamed one is followed, a dropped one is not. */
export const rulesCheck: Check = {
  name: 'rules',
  title: 'Keys and unique tasks',
  async examine({ connection }) {
    const { rows } = await connection.query(
      `select n.nspname::text as schema, c.relname::text as "table", tasks.quoted(y.table_id) as name,
         case when tasks.columns_of_key(y) is null then y.key_columns end as "lostKeys",
         case when (tasks.unique_rule(y.table_id)).columns is null then u.columns end as "lostUnique"
       from tasks.types y
       join pg_catalog.pg_class c on c.oid = y.table_id
       join pg_catalog.pg_namespace n on n.oid = c.relnamespace
       left join tasks.unique_rules u on u.table_id = y.table_id
       where y.key_columns is not null or u.table_id is not null
       order by 3`,
    )
    return (rows as RuleRow[]).flatMap(findingsOf)
  },
}

function findingsOf({ schema, table, name, lostKeys, lostUnique }: RuleRow): Finding[] {
  const findings: Finding[] = []
  const type = `${quoteLiteral(schema)}, ${quoteLiteral(table)}`
  if (lostKeys !== null) {
    findings.push({
      code: 'keys_broken',
      severity: 'critical',
      subject: name,
      problem: `limit_keys keeps the tasks of ${name} in order by ${lostKeys.join(', ')}, which is not there any more, or its index: no task of it is acquired.`,
      remedy: `select tasks.limit_keys(${type}, null); -- or with the columns of today`,
      details: { columns: lostKeys },
    })
  }
  if (lostUnique !== null) {
    findings.push({
      code: 'unique_broken',
      severity: 'warning',
      subject: name,
      problem: `The tasks of ${name} were unique by ${lostUnique.join(', ')}; the index is gone, because a column was dropped or the index itself: they are no longer unique.`,
      remedy: `select tasks.unique_while(${type}, null); -- or with the columns of today`,
      details: { columns: lostUnique },
    })
  }
  return findings
}
