import { deleteEnded, type FinalState, type TaskChoice, type TypeDescription } from '@pg-tasks/sql'
import { Command } from 'commander'
import { withDatabaseOptions, withExamples } from '../arguments/add-options.js'
import { parseFinalStates, parseIds, parseInstant } from '../arguments/parse-arguments.js'
import { parseDuration } from '../arguments/parse-duration.js'
import { UsageError } from '../cli-error.js'
import { findType, typeLabel } from '../connection/find-type.js'
import { withClient } from '../connection/with-client.js'
import { changeChosen } from '../manage/change-chosen.js'
import type { ChoiceOptions } from '../manage/choice-options.js'

interface CleanOptions extends Omit<ChoiceOptions, 'state'> {
  readonly state?: FinalState[]
  readonly olderThan?: number
  readonly before?: Date
}

/** `pg-tasks clean` */
export function cleanCommand(): Command {
  const command = new Command('clean')
    .summary('Delete ended tasks.')
    .description(
      "Delete ended tasks: by id, by condition, or those that ended longer ago than told or the type's storage time.",
    )
    .argument('<type>', 'task type: table, or schema.table')
    .argument('[ids...]', 'ids of ended tasks')
    .option('--older-than <duration>', 'ended longer ago than this: 12h, 30d', parseDuration)
    .option('--before <time>', 'ended before this time: 2026-03-01', parseInstant)
    .option('--state <states>', 'finished, failed, canceled (default: finished)', parseFinalStates)
    .option('--where <condition>', 'only those that meet this SQL condition on the columns (alias t)')
    .option('--dry-run', 'only tell which tasks are meant')
    .option('-y, --yes', "don't ask")
    .action(async (written: string, ids: string[], options: CleanOptions) => {
      if (options.olderThan !== undefined && options.before !== undefined) {
        throw new UsageError('Give --older-than or --before, not both.')
      }
      await withClient(options, async (client) => {
        const type = await findType(client, written)
        await changeChosen(client, type, choiceOf(type, ids, options), options, {
          verb: 'clean',
          participle: 'deleted',
          apply: (page) => deleteEnded(client, type, page),
        })
      })
    })
  return withExamples(withDatabaseOptions(command), [
    'pg-tasks clean send_invoice --older-than 30d',
    'pg-tasks clean send_invoice --state failed,canceled --before 2026-01-01 --yes',
    'pg-tasks clean send_invoice 42 43',
  ])
}

function choiceOf(type: TypeDescription, ids: readonly string[], options: CleanOptions): TaskChoice {
  const { olderThan, before, where, state } = options
  if (ids.length > 0) return { ids: parseIds(ids), where, states: state, endedAgoMs: olderThan, endedBefore: before }
  const states = state ?? (['finished'] as const)
  if (olderThan !== undefined || before !== undefined || where !== undefined || state !== undefined) {
    return { states, where, endedAgoMs: olderThan, endedBefore: before }
  }
  if (type.storageMs === null) {
    throw new UsageError(
      `${typeLabel(type)} keeps its tasks for ever.`,
      'Give --older-than, --before, --state, --where or ids.',
    )
  }
  return { states, endedAgoMs: type.storageMs }
}
