import { type ListedTask, listTasks, type TaskHistory, taskHistory } from '@pg-tasks/sql'
import { Command } from 'commander'
import { withDatabaseOptions, withExamples } from '../arguments/add-options.js'
import { parseIds } from '../arguments/parse-arguments.js'
import { CliError } from '../cli-error.js'
import type { DatabaseOptions } from '../connection/choose-database.js'
import { findType, typeLabel } from '../connection/find-type.js'
import { withClient } from '../connection/with-client.js'
import { formatDuration, formatInstant, formatValue } from '../output/format.js'
import { Output } from '../output/output.js'
import { paintState } from '../output/paint-state.js'
import { isTemplateColumn } from '../output/template-columns.js'

/** `pg-tasks show` */
export function showCommand(): Command {
  const command = new Command('show')
    .description('Show a task: its columns, marked steps and, where history is kept, its attempts.')
    .argument('<type>', 'task type: table, or schema.table')
    .argument('<id>', 'id of the task')
    .action(async (written: string, id: string, options: DatabaseOptions) => {
      parseIds([id])
      await withClient(options, async (client) => {
        const type = await findType(client, written)
        const [task] = await listTasks(client, type, { ids: [id], limit: 1 })
        if (task === undefined) throw new CliError(`There is no task ${id} of ${typeLabel(type)}.`)
        const history = await taskHistory(client, type.tableId, id)
        const output = new Output(options)
        output.answer({ state: task.state, task: task.row, ...history }, () => taskText(task, history, output))
      })
    })
  return withExamples(withDatabaseOptions(command), ['pg-tasks show send_invoice 42'])
}

function taskText({ state, row }: ListedTask, { attempts, marks }: TaskHistory, { paint }: Output): string {
  const entries = Object.entries(row).filter(([, value]) => value !== null)
  const own = entries.filter(([name]) => !isTemplateColumn(name))
  const ours = entries.filter(
    ([name, value]) => isTemplateColumn(name) && name !== 'last_error' && !isDull(name, value),
  )
  const width = Math.max(...entries.map(([name]) => name.length), 5)
  const line = ([name, value]: [string, unknown]): string => `${paint.dim(name.padEnd(width))}  ${formatValue(value)}`
  const lines = [`${paint.dim('state'.padEnd(width))}  ${paintState(paint, state)(state)}`, ...ours.map(line)]
  if (own.length > 0) lines.push('', ...own.map(line))
  if (typeof row.last_error === 'string') lines.push('', paint.bold('last error'), indented(paint.red(row.last_error)))
  if (marks.length > 0) {
    lines.push('', paint.bold('marked steps'))
    for (const mark of marks)
      lines.push(`  ${mark.step}  ${paint.dim(`attempt ${mark.attempt}, ${formatInstant(mark.markedAt)}`)}`)
  }
  if (attempts.length > 0) {
    lines.push('', paint.bold('attempts'))
    for (const { attempt, outcome, startedAt, endedAt, error } of attempts) {
      const took = formatDuration(endedAt.getTime() - startedAt.getTime())
      lines.push(`  ${attempt}  ${outcome} after ${took}  ${paint.dim(formatInstant(startedAt))}`)
      if (error !== null) lines.push(indented(paint.red(error.split('\n', 1)[0] ?? '')))
    }
  }
  return `${lines.join('\n')}\n`
}

/** What says nothing about this task: defaults. */
function isDull(name: string, value: unknown): boolean {
  return value === false || (name === 'lost_count' && value === 0)
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')
}
