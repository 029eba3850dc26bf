import { quoteLiteral } from '../../quote-literal.js'
import type { Check } from '../check.js'
import type { Finding } from '../finding.js'
import { missingColumns } from '../missing-columns.js'

/** Whether the tables have the columns that the code expects, and demand none that it doesn't know. */
export const columnsCheck: Check = {
  name: 'columns',
  title: 'Columns that the code expects',
  async examine({ connection, options, types }) {
    const findings: Finding[] = []
    for (const expected of options.expected) {
      const type = types.find((one) => one.schema === expected.schema && one.table === expected.table)
      const name = type?.name ?? `${expected.schema}.${expected.table}`
      if (type === undefined) {
        const statement = `select tasks.register(${quoteLiteral(expected.schema)}, ${quoteLiteral(expected.table)});`
        findings.push({
          code: 'type_not_registered',
          severity: 'critical',
          subject: name,
          problem: `The code has a task type ${name}, which is not registered here.`,
          remedy: `Create its table and register it: ${statement}`,
          details: { statement },
        })
        continue
      }
      if (expected.columns === undefined) continue
      const { missing, required } = await missingColumns(connection, type.tableId, expected.columns)
      if (missing.length > 0) {
        findings.push({
          code: 'columns_missing',
          severity: 'critical',
          subject: name,
          problem: `${name} lacks ${missing.join(', ')}, which the code expects.`,
          remedy: 'Apply the migration that adds them, or generate the types anew: pg-tasks types generate.',
          details: { missing },
        })
      }
      if (required.length > 0) {
        findings.push({
          code: 'columns_required',
          severity: 'warning',
          subject: name,
          problem: `${name} demands ${required.join(', ')}, which the code doesn't know: it can't enqueue.`,
          remedy: 'Give them a default, or generate the types anew: pg-tasks types generate.',
          details: { required },
        })
      }
    }
    return findings
  },
}
