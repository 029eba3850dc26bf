import { retry } from '@pg-tasks/sql'
import { Command } from 'commander'
import { withDatabaseOptions, withExamples } from '../arguments/add-options.js'
import { parseInstant } from '../arguments/parse-arguments.js'
import { parseDuration } from '../arguments/parse-duration.js'
import { UsageError } from '../cli-error.js'
import { findType } from '../connection/find-type.js'
import { withClient } from '../connection/with-client.js'
import { changeChosen } from '../manage/change-chosen.js'
import { type ChoiceOptions, choiceOf, withChoice } from '../manage/choice-options.js'

interface RetryOptions extends ChoiceOptions {
  readonly in?: number
  readonly at?: Date
  readonly comment?: string
}

/** `pg-tasks retry` */
export function retryCommand(): Command {
  const command = withChoice(new Command('retry'))
    .summary('Let running tasks wait for another attempt.')
    .description(
      "Take running tasks from their workers and let them wait for another attempt: for the type's backoff, or as told. " +
        'Tasks that have failed for good are run again by reset.',
    )
    .option('--in <duration>', 'not before this time has passed: 5m, 2h', parseDuration)
    .option('--at <time>', 'not before this time: 2026-03-01T09:00Z', parseInstant)
    .option('--comment <text>', 'stored with the task')
    .action(async (written: string, ids: string[], options: RetryOptions) => {
      const choice = choiceOf(ids, options, ['running'])
      if (options.in !== undefined && options.at !== undefined) throw new UsageError('Give --in or --at, not both.')
      await withClient(options, async (client) => {
        const type = await findType(client, written)
        await changeChosen(client, type, choice, options, {
          verb: 'retry',
          participle: 'retried',
          apply: async (page) => {
            for (const id of page) {
              await retry(client, type, id, { plannedTo: options.at, delayMs: options.in, comment: options.comment })
            }
            return page.length
          },
        })
      })
    })
  return withExamples(withDatabaseOptions(command), [
    'pg-tasks retry send_invoice 42 --in 10m',
    `pg-tasks retry send_invoice --where "t.started_at < now() - interval '1 hour'"`,
  ])
}
