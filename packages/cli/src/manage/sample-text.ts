import { listTasks, type Queryable, type TaskChoice, type TypeDescription } from '@pg-tasks/sql'
import { formatNumber, formatValue } from '../output/format.js'
import { isTemplateColumn } from '../output/template-columns.js'
import { cutToWidth } from '../output/text-width.js'

const SHOWN = 5

/** The first of the chosen tasks, a line each, so that somebody can see whether they are the ones that are meant. */
export async function sampleText(
  client: Queryable,
  type: TypeDescription,
  choice: TaskChoice,
  total: number,
): Promise<string> {
  const tasks = await listTasks(client, type, { ...choice, limit: SHOWN, order: 'oldest' })
  const width = (process.stderr.columns ?? 120) - 2
  const lines = tasks.map(({ state, row }) => {
    const own = Object.entries(row).filter(([name, value]) => !isTemplateColumn(name) && value !== null)
    const columns = own.map(([name, value]) => `${name}=${formatValue(value)}`).join(' ')
    return `  ${cutToWidth(`${String(row.id)}  ${state}  ${columns}`.trimEnd(), width)}`
  })
  if (total > tasks.length) lines.push(`  … and ${formatNumber(total - tasks.length)} more`)
  return lines.join('\n')
}
