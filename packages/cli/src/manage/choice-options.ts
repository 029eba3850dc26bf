import type { TaskChoice, TaskState } from '@pg-tasks/sql'
import type { Command } from 'commander'
import { parseIds, parseStates } from '../arguments/parse-arguments.js'
import { UsageError } from '../cli-error.js'
import type { DatabaseOptions } from '../connection/choose-database.js'

/** How tasks are chosen for a change. */
export interface ChoiceOptions extends DatabaseOptions {
  readonly where?: string
  readonly state?: TaskState[]
  readonly yes?: boolean
  readonly dryRun?: boolean
}

/** Adds the arguments and options by which tasks are chosen. */
export function withChoice(command: Command): Command {
  return command
    .argument('<type>', 'task type: table, or schema.table')
    .argument('[ids...]', 'ids of tasks')
    .option('--where <condition>', 'tasks that meet this SQL condition on the columns (alias t)')
    .option('--state <states>', 'tasks in these states, separated by commas', parseStates)
    .option('--dry-run', 'only tell which tasks are meant')
    .option('-y, --yes', "don't ask")
}

/**
 * The tasks that are meant. By condition only those in states that the verb is for; by id whatever state they are in, so that
 * the verb itself says what is wrong.
 *
 * @throws UsageError if none are, or in a state that the verb isn't for
 */
export function choiceOf(ids: readonly string[], options: ChoiceOptions, allowed: readonly TaskState[]): TaskChoice {
  const { where, state } = options
  const wrong = state?.find((one) => !allowed.includes(one))
  if (wrong !== undefined) {
    throw new UsageError(`Tasks that are ${wrong} can't be meant here.`, `States: ${allowed.join(', ')}.`)
  }
  if (ids.length === 0 && where === undefined && state === undefined) {
    throw new UsageError('Which tasks? Give ids, --where or --state.', `All of them: --where true.`)
  }
  if (ids.length > 0) return { ids: parseIds(ids), where, states: state }
  return { where, states: state ?? allowed }
}
