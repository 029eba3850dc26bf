import { type ListedTask, listTasks, type TaskState } from '@pg-tasks/sql'
import { Command } from 'commander'
import { withDatabaseOptions, withExamples } from '../arguments/add-options.js'
import { parseInteger, parseStates } from '../arguments/parse-arguments.js'
import type { DatabaseOptions } from '../connection/choose-database.js'
import { findType } from '../connection/find-type.js'
import { withClient } from '../connection/with-client.js'
import { formatInstant, formatValue } from '../output/format.js'
import { Output } from '../output/output.js'
import { paintState } from '../output/paint-state.js'
import { isTemplateColumn } from '../output/template-columns.js'

interface ListOptions extends DatabaseOptions {
  readonly state?: TaskState[]
  readonly where?: string
  readonly limit: number
  readonly after?: string
  readonly oldest?: boolean
}

/** `pg-tasks list` */
export function listCommand(): Command {
  const command = new Command('list')
    .description('List tasks of a type, the newest first.')
    .argument('<type>', 'task type: table, or schema.table')
    .option(
      '--state <states>',
      'only in these states: scheduled, ready, running, finished, failed, canceled',
      parseStates,
    )
    .option('--where <condition>', 'only those that meet this SQL condition on the columns (alias t)')
    .option('--limit <number>', 'most tasks', parseInteger(1, 100_000), 20)
    .option('--after <id>', 'the next page: id of the last task of this one')
    .option('--oldest', 'the oldest first')
    .action(async (written: string, options: ListOptions) => {
      const tasks = await withClient(options, async (client) =>
        listTasks(client, await findType(client, written), {
          states: options.state,
          where: options.where,
          limit: options.limit,
          afterId: options.after,
          order: options.oldest === true ? 'oldest' : 'newest',
        }),
      )
      const output = new Output(options)
      output.answer({ tasks: tasks.map(({ state, row }) => ({ state, ...row })) }, () =>
        tasksTable(tasks, options, output),
      )
    })
  return withExamples(withDatabaseOptions(command), [
    'pg-tasks list send_invoice --state failed',
    `pg-tasks list send_invoice --where "email like '%@example.com'" --limit 100 --json`,
  ])
}

function tasksTable(tasks: readonly ListedTask[], { limit, after }: ListOptions, output: Output): string {
  if (tasks.length === 0) return after === undefined ? 'No tasks.\n' : 'No more tasks.\n'
  const { paint } = output
  const own = Object.keys(tasks[0]?.row ?? {}).filter((column) => !isTemplateColumn(column))
  const text = output.table(tasks, [
    { name: 'ID', value: ({ row }) => String(row.id), align: 'right' },
    { name: 'STATE', value: ({ state }) => state, paint: (cell, { state }) => paintState(paint, state)(cell) },
    { name: 'WHEN', value: whenOf },
    { name: 'RUNS', value: ({ row }) => String(row.execution_count), align: 'right' },
    ...own.map((column) => ({
      name: column,
      value: ({ row }: ListedTask) => formatValue(row[column]),
      flexible: true,
    })),
    {
      name: 'ERROR',
      value: ({ row }) => formatValue(row.last_error).split('\n', 1)[0] ?? '',
      flexible: true,
      paint: paint.red,
    },
  ])
  const last = tasks.at(-1)?.row.id
  return tasks.length < limit ? text : `${text}${paint.dim(`More with --after ${String(last)}`)}\n`
}

/** When it was planned, started or ended. */
function whenOf({ state, row }: ListedTask): string {
  const column = WHEN[state]
  const value = row[column]
  return value instanceof Date && !Number.isNaN(value.getTime()) ? formatInstant(value) : formatValue(value)
}

const WHEN: Readonly<Record<TaskState, string>> = {
  scheduled: 'planned_to',
  ready: 'planned_to',
  running: 'started_at',
  finished: 'finished_at',
  failed: 'failed_at',
  canceled: 'canceled_at',
}
