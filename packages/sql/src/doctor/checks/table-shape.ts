import type { Check } from '../check.js'
import { shapeCode } from '../shape-code.js'

interface Problem {
  readonly problem: string
  readonly remedy: string | null
  readonly safe: boolean
}

/** What a task table lacks of the template: columns, constraints, storage parameters, triggers. Indexes are a check of their own. */
export const tableShapeCheck: Check = {
  name: 'table_shape',
  title: 'Shape of the task tables',
  async examine({ connection, types }) {
    const findings = []
    for (const type of types) {
      const { rows } = await connection.query(
        `select c.problem, c.remedy, c.safe from tasks.check_table($1::oid::regclass) c where c.problem not like 'index (%'
         union all
         select g.problem, g.remedy, true from tasks.check_triggers($1::oid::regclass, $2::boolean, true) g`,
        [type.tableId, type.notify],
      )
      for (const { problem, remedy, safe } of rows as Problem[]) {
        findings.push({
          ...shapeCode(problem),
          severity: safe ? ('warning' as const) : ('critical' as const),
          subject: type.name,
          problem: `${type.name}: ${problem}.`,
          remedy: remedy === null ? 'Rename the column of your own, or change its type.' : `${remedy};`,
        })
      }
    }
    return findings
  },
}
