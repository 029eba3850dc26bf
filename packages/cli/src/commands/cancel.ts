import { cancel } from '@pg-tasks/sql'
import { Command } from 'commander'
import { withDatabaseOptions, withExamples } from '../arguments/add-options.js'
import { findType } from '../connection/find-type.js'
import { withClient } from '../connection/with-client.js'
import { changeChosen } from '../manage/change-chosen.js'
import { type ChoiceOptions, choiceOf, withChoice } from '../manage/choice-options.js'

interface CancelOptions extends ChoiceOptions {
  readonly comment?: string
}

const UNFINISHED = ['scheduled', 'ready', 'running'] as const

/** `pg-tasks cancel` */
export function cancelCommand(): Command {
  const command = withChoice(new Command('cancel'))
    .summary('Cancel tasks that have not ended.')
    .description("Cancel tasks that have not ended; running ones hear it through their handler's signal.")
    .option('--comment <text>', 'stored with the task')
    .action(async (written: string, ids: string[], options: CancelOptions) => {
      const choice = choiceOf(ids, options, UNFINISHED)
      await withClient(options, async (client) => {
        const type = await findType(client, written)
        await changeChosen(client, type, choice, options, {
          verb: 'cancel',
          participle: 'canceled',
          apply: async (page) => {
            let canceled = 0
            for (const id of page) {
              const found = await cancel(client, type, id, { comment: options.comment })
              if ((UNFINISHED as readonly string[]).includes(found)) canceled += 1
            }
            return canceled
          },
        })
      })
    })
  return withExamples(withDatabaseOptions(command), [
    'pg-tasks cancel send_invoice 42 --comment "order withdrawn"',
    `pg-tasks cancel send_invoice --where "order_id = 7" --dry-run`,
  ])
}
