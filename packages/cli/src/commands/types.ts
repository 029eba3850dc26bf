import { listTypes, type RegisteredType } from '@pg-tasks/sql'
import { Command } from 'commander'
import { withDatabaseOptions, withExamples } from '../arguments/add-options.js'
import type { DatabaseOptions } from '../connection/choose-database.js'
import { typeLabel } from '../connection/find-type.js'
import { withClient } from '../connection/with-client.js'
import { formatDuration } from '../output/format.js'
import { Output } from '../output/output.js'
import { typesGenerateCommand } from './types-generate.js'

/** `pg-tasks types` */
export function typesCommand(): Command {
  const command = new Command('types')
    .description('List the registered task types and their settings.')
    .action(async (options: DatabaseOptions) => {
      const types = await withClient(options, (client) => listTypes(client))
      const output = new Output(options)
      output.answer({ types }, () => typesTable(types, output))
    })
  return withExamples(withDatabaseOptions(command), ['pg-tasks types', 'pg-tasks types --json']).addCommand(
    typesGenerateCommand(),
  )
}

function typesTable(types: readonly RegisteredType[], output: Output): string {
  const { paint } = output
  if (types.length === 0) return 'No task type is registered: pg-tasks register <table>.\n'
  return output.table(types, [
    { name: 'TYPE', value: typeLabel, paint: paint.bold },
    { name: 'TIMEOUT', value: (type) => duration(type.timeoutMs, 'none'), align: 'right' },
    {
      name: 'RETRIES',
      value: (type) => (type.maxRetries === null ? 'no end' : String(type.maxRetries)),
      align: 'right',
    },
    {
      name: 'KEPT',
      value: (type) => (type.storageMs === 0 ? 'no' : duration(type.storageMs, 'for ever')),
      align: 'right',
    },
    { name: 'RUN LIMIT', value: (type) => duration(type.runLimitMs, 'none'), align: 'right' },
    { name: 'AT WORK', value: (type) => String(type.workers), align: 'right' },
    {
      name: 'LIMITS',
      value: limitsOf,
      flexible: true,
      paint: (text, type) => (type.there ? paint.yellow(text) : paint.red(text)),
    },
  ])
}

function limitsOf(type: RegisteredType): string {
  const limits: string[] = []
  if (!type.there) limits.push('the table is gone')
  if (type.pausedAt !== null) limits.push(type.pausedReason === null ? 'paused' : `paused (${type.pausedReason})`)
  if (type.concurrency !== null) limits.push(`${type.concurrency} at once`)
  if (type.rateCount !== null) limits.push(`${type.rateCount} per ${duration(type.rateIntervalMs, '')}`)
  if (type.keyColumns !== null) limits.push(`keys: ${type.keyColumns.join(', ')}`)
  if (!type.notify) limits.push('no notifications')
  if (type.onFailure !== null) limits.push(`failures to ${type.onFailure}`)
  return limits.join('; ')
}

function duration(ms: number | null, none: string): string {
  return ms === null ? none : formatDuration(ms)
}
