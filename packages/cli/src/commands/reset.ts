import { reset } from '@pg-tasks/sql'
import { Command } from 'commander'
import { withDatabaseOptions, withExamples } from '../arguments/add-options.js'
import { findType } from '../connection/find-type.js'
import { withClient } from '../connection/with-client.js'
import { changeChosen } from '../manage/change-chosen.js'
import { type ChoiceOptions, choiceOf, withChoice } from '../manage/choice-options.js'

interface ResetOptions extends ChoiceOptions {
  readonly forgetMarks?: boolean
}

/** `pg-tasks reset` */
export function resetCommand(): Command {
  const command = withChoice(new Command('reset'))
    .summary('Make tasks ready as if they had never run; how failed ones are run again.')
    .description('Make tasks ready as if they had never run, whatever their state; how failed ones are run again.')
    .option('--forget-marks', 'delete the marks of their steps too, so that every step is done anew')
    .action(async (written: string, ids: string[], options: ResetOptions) => {
      const choice = choiceOf(ids, options, ['scheduled', 'ready', 'running', 'finished', 'failed', 'canceled'])
      await withClient(options, async (client) => {
        const type = await findType(client, written)
        await changeChosen(client, type, choice, options, {
          verb: 'reset',
          participle: 'reset',
          apply: async (page) => {
            for (const id of page) await reset(client, type, id, { forgetMarks: options.forgetMarks === true })
            return page.length
          },
        })
      })
    })
  return withExamples(withDatabaseOptions(command), [
    'pg-tasks reset send_invoice 42',
    'pg-tasks reset send_invoice --state failed',
    `pg-tasks reset send_invoice --state failed --where "last_error like '%timeout%'" --yes`,
  ])
}
