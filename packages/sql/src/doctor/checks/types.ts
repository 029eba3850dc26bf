import { quoteLiteral } from '../../quote-literal.js'
import type { Check } from '../check.js'
import type { Finding } from '../finding.js'

interface TypeRow {
  readonly schema: string
  readonly table: string
  readonly name: string
  readonly there: boolean
  readonly current: boolean
}

/** Whether the table of each registered type is there, and its functions are those of this version. */
export const typesCheck: Check = {
  name: 'types',
  title: 'Registered types',
  async examine({ connection }) {
    const { rows } = await connection.query(
      `select y.schema_name as schema, y.table_name as "table", coalesce(tasks.quoted(y.table_id), format('%I.%I', y.schema_name, y.table_name)) as name,
         tasks.quoted(y.table_id) is not null as there,
         tasks.quoted(y.table_id) is null or tasks.verbs_are_current(y.table_id, y.function_name) as current
       from tasks.types y order by 1`,
    )
    return (rows as TypeRow[]).flatMap(findingsOf)
  },
}

function findingsOf({ schema, table, name, there, current }: TypeRow): Finding[] {
  if (!there) {
    return [
      {
        code: 'table_gone',
        severity: 'warning',
        subject: name,
        problem: `${name} is registered, and the table is gone.`,
        remedy: `select tasks.unregister(${quoteLiteral(schema)}, ${quoteLiteral(table)});`,
        details: {},
      },
    ]
  }
  if (current) return []
  return [
    {
      code: 'functions_stale',
      severity: 'warning',
      subject: name,
      problem: `The functions of ${name} are not those of this version, or not of its name of today.`,
      remedy: `select tasks.refresh(${quoteLiteral(name)}::regclass);`,
      details: {},
    },
  ]
}
