import { type RegisterOptions, register, unregister } from '@pg-tasks/sql'
import { Command } from 'commander'
import { withDatabaseOptions, withExamples } from '../arguments/add-options.js'
import { parseInteger } from '../arguments/parse-arguments.js'
import { parseTypeName } from '../arguments/parse-type-name.js'
import type { DatabaseOptions } from '../connection/choose-database.js'
import { typeLabel } from '../connection/find-type.js'
import { withClient } from '../connection/with-client.js'
import { Output } from '../output/output.js'

interface RegisterCommandOptions extends DatabaseOptions, Omit<RegisterOptions, 'timeout' | 'runLimit' | 'maxRetries'> {
  readonly timeout?: string
  readonly runLimit?: string
  readonly maxRetries?: number | 'none'
}

/** `pg-tasks register` */
export function registerCommand(): Command {
  const command = new Command('register')
    .description('Make a table a task type, or bring its settings up to date; what is not given gets its default.')
    .argument('<table>', 'table, or schema.table (default schema: tasks)')
    .option(
      '--timeout <interval>',
      'length of the lease; "none": tasks of a dead worker never come back (default: 1 minute)',
    )
    .option('--max-retries <number>', 'executions after the first; "none": without end (default: 20)', parseRetries)
    .option('--storage-time <interval>', 'how long ended tasks are kept; 0: deleted at finish (default: for ever)')
    .option('--no-notify', "enqueueing doesn't notify: workers find tasks by polling")
    .option('--function-name <name>', "what stands behind the verb in the names of the type's functions")
    .option('--backoff-base <interval>', 'wait before the first retry (default: 1 s)')
    .option('--backoff-max <interval>', 'longest wait before a retry (default: 1 hour)')
    .option('--run-limit <interval>', 'longest run of a handler (default: no limit)')
    .action(async (written: string, options: RegisterCommandOptions) => {
      const { schema = 'tasks', table } = parseTypeName(written)
      await withClient(options, (client) => register(client, schema, table, settingsOf(options)))
      new Output(options).answer(
        { registered: { schema, table } },
        () => `${typeLabel({ schema, table })} is registered.\n`,
      )
    })
  return withExamples(withDatabaseOptions(command), [
    'pg-tasks register send_invoice',
    'pg-tasks register shop.send_invoice --timeout "5 minutes" --max-retries 3',
  ])
}

/** `pg-tasks unregister` */
export function unregisterCommand(): Command {
  const command = new Command('unregister')
    .description('Take a task type out of the registry; its table and tasks stay.')
    .argument('<table>', 'table, or schema.table (default schema: tasks)')
    .action(async (written: string, options: DatabaseOptions) => {
      const { schema = 'tasks', table } = parseTypeName(written)
      await withClient(options, (client) => unregister(client, schema, table))
      new Output(options).answer({ unregistered: { schema, table } }, () => {
        return `${typeLabel({ schema, table })} is not registered (any more); its table stays.\n`
      })
    })
  return withExamples(withDatabaseOptions(command), ['pg-tasks unregister send_invoice'])
}

function settingsOf({ timeout, maxRetries, runLimit, ...options }: RegisterCommandOptions): RegisterOptions {
  const { storageTime, notify, functionName, backoffBase, backoffMax } = options
  return {
    timeout: timeout === 'none' ? null : timeout,
    maxRetries: maxRetries === 'none' ? null : maxRetries,
    storageTime,
    notify,
    functionName,
    backoffBase,
    backoffMax,
    runLimit,
  }
}

/** Not null: commander would take it for a missing value. */
function parseRetries(text: string): number | 'none' {
  return text === 'none' ? text : parseInteger(0, 2_147_483_646)(text)
}
