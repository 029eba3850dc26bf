import { enqueueText } from '@pg-tasks/sql'
import { Command } from 'commander'
import { withDatabaseOptions, withExamples } from '../arguments/add-options.js'
import { parseAssignments, parseInstant, parseInteger } from '../arguments/parse-arguments.js'
import { parseDuration } from '../arguments/parse-duration.js'
import { UsageError } from '../cli-error.js'
import type { DatabaseOptions } from '../connection/choose-database.js'
import { findType, typeLabel } from '../connection/find-type.js'
import { withClient } from '../connection/with-client.js'
import { enqueueFile, type FileFormat, formatOf } from '../enqueue/enqueue-file.js'
import { explainColumns } from '../enqueue/explain-columns.js'
import { formatNumber } from '../output/format.js'
import { Output } from '../output/output.js'

interface EnqueueOptions extends DatabaseOptions {
  readonly file?: string
  readonly format?: FileFormat
  readonly in?: number
  readonly at?: Date
  readonly priority?: number
}

/** `pg-tasks enqueue` */
export function enqueueCommand(): Command {
  const command = new Command('enqueue')
    .description('Enqueue one task from column=value words, or many from a file: all of them, or none.')
    .argument('<type>', 'task type: table, or schema.table')
    .argument('[columns...]', 'column=value, as PostgreSQL reads it: {1,2} for an array, {"a":1} for json')
    .option(
      '--file <path>',
      'rows from a CSV file with a head, or a file with a JSON object per line; - is standard input',
    )
    .option('--format <format>', "csv or jsonl (default: by the file's name)", parseFormat)
    .option('--in <duration>', 'due after this time: 30s, 2h', parseDuration)
    .option('--at <time>', 'due at this time: 2026-03-01T09:00Z', parseInstant)
    .option('--priority <number>', '0 (first) to 3 (last)', parseInteger(0, 3))
    .action(async (written: string, words: string[], options: EnqueueOptions) => {
      if (options.file === undefined) await enqueueOne(written, words, options)
      else await enqueueMany(written, words, options.file, options)
    })
  return withExamples(withDatabaseOptions(command), [
    'pg-tasks enqueue send_invoice order_id=42 email=a@example.com',
    'pg-tasks enqueue send_invoice order_id=42 email=a@example.com --in 10m --priority 0',
    'pg-tasks enqueue send_invoice --file rows.csv',
    'cat rows.jsonl | pg-tasks enqueue send_invoice --file - --format jsonl',
  ])
}

async function enqueueOne(written: string, words: readonly string[], options: EnqueueOptions): Promise<void> {
  if (options.in !== undefined && options.at !== undefined) throw new UsageError('Give --in or --at, not both.')
  const columns = { ...parseAssignments(words) }
  if (options.priority !== undefined) columns.priority = String(options.priority)
  if (options.at !== undefined) columns.planned_to = options.at.toISOString()
  await withClient(options, async (client) => {
    const type = await findType(client, written)
    const id = await explainColumns(client, type, () => enqueueText(client, type, columns, { delayMs: options.in }))
    new Output(options).answer({ id }, () => `Task ${id} of ${typeLabel(type)} is enqueued.\n`)
  })
}

async function enqueueMany(
  written: string,
  words: readonly string[],
  file: string,
  options: EnqueueOptions,
): Promise<void> {
  const { in: delay, at, priority } = options
  if (words.length > 0 || delay !== undefined || at !== undefined || priority !== undefined) {
    throw new UsageError('With --file everything stands in the file: columns planned_to and priority too.')
  }
  const format = options.format ?? formatOf(file)
  await withClient(options, async (client) => {
    const type = await findType(client, written)
    const output = new Output(options)
    const count = await explainColumns(client, type, () =>
      enqueueFile(client, type, { file, format, progress: !output.json }),
    )
    output.answer({ enqueued: count }, () =>
      count === 1
        ? `1 task of ${typeLabel(type)} is enqueued.\n`
        : `${formatNumber(count)} tasks of ${typeLabel(type)} are enqueued.\n`,
    )
  })
}

function parseFormat(text: string): FileFormat {
  if (text === 'csv' || text === 'jsonl') return text
  throw new UsageError(`--format is csv or jsonl, not "${text}".`)
}
