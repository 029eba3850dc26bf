import { pauseType, resumeType } from '@pg-tasks/sql'
import { Command } from 'commander'
import { withDatabaseOptions, withExamples } from '../arguments/add-options.js'
import type { DatabaseOptions } from '../connection/choose-database.js'
import { findType, typeLabel } from '../connection/find-type.js'
import { withClient } from '../connection/with-client.js'
import { Output } from '../output/output.js'

interface PauseOptions extends DatabaseOptions {
  readonly reason?: string
}

/** `pg-tasks pause` */
export function pauseCommand(): Command {
  const command = new Command('pause')
    .description('From now on no worker takes a task of this type; running ones go on.')
    .argument('<type>', 'task type: table, or schema.table')
    .option('--reason <text>', 'shown wherever the type is shown')
    .action(async (written: string, options: PauseOptions) => {
      await withClient(options, async (client) => {
        const type = await findType(client, written)
        await pauseType(client, type, options.reason)
        new Output(options).answer({ paused: { schema: type.schema, table: type.table } }, () => {
          return `${typeLabel(type)} is paused; "pg-tasks resume ${typeLabel(type)}" lets it go on.\n`
        })
      })
    })
  return withExamples(withDatabaseOptions(command), ['pg-tasks pause send_invoice --reason "mail server is moved"'])
}

/** `pg-tasks resume` */
export function resumeCommand(): Command {
  const command = new Command('resume')
    .description('Let a paused type go on.')
    .argument('<type>', 'task type: table, or schema.table')
    .action(async (written: string, options: DatabaseOptions) => {
      await withClient(options, async (client) => {
        const type = await findType(client, written)
        await resumeType(client, type)
        new Output(options).answer({ resumed: { schema: type.schema, table: type.table } }, () => {
          return `${typeLabel(type)} goes on.\n`
        })
      })
    })
  return withExamples(withDatabaseOptions(command), ['pg-tasks resume send_invoice'])
}
