import { fromDatabaseError } from '@pg-tasks/client'
import {
  chosenIds,
  countChosen,
  inShortTransaction,
  type Queryable,
  type TaskChoice,
  type TaskState,
  type TypeDescription,
} from '@pg-tasks/sql'
import { CliError } from '../cli-error.js'
import { typeLabel } from '../connection/find-type.js'
import { EXIT_CODES } from '../exit-codes.js'
import { confirm } from '../output/confirm.js'
import { formatNumber } from '../output/format.js'
import { Output, say } from '../output/output.js'
import { startProgress } from '../output/progress.js'
import type { ChoiceOptions } from './choice-options.js'
import { sampleText } from './sample-text.js'

const PAGE = 500
const MOST_FAILURES_TOLD = 10

/** A change of many tasks, one after the other. */
export interface Change {
  /** `reset` */
  readonly verb: string
  /** `reset`, as in "will be reset" */
  readonly participle: string
  /** Changes these tasks; gives how many were. A whole page is tried at once, then, if that raises, each alone. */
  readonly apply: (ids: readonly string[]) => Promise<number>
}

/** Why a task was not changed. */
interface Failure {
  readonly id: string
  readonly code: string | null
  readonly message: string
}

/** Counts, shows and confirms what is chosen, then changes it with a progress bar, and answers. */
export async function changeChosen(
  client: Queryable,
  type: TypeDescription,
  choice: TaskChoice,
  options: ChoiceOptions,
  change: Change,
): Promise<void> {
  const output = new Output(options)
  const matched = await countChosen(client, type, choice)
  const total = Object.values(matched).reduce((sum, count) => sum + count, 0)
  const { ids } = choice
  const missing = ids === undefined ? 0 : new Set(ids).size - total
  if (missing > 0 && total === 0) throw new CliError(`There is no such task of ${typeLabel(type)}.`)
  const preview = `${countText(total)} of ${typeLabel(type)} ${statesText(matched)}`
  if (options.dryRun === true || total === 0) {
    output.answer({ dryRun: true, type: nameOf(type), verb: change.verb, matched }, () => {
      if (total === 0) return `No task of ${typeLabel(type)} is meant.\n`
      return `${preview} would be ${change.participle}.\n`
    })
    return
  }
  if (ids === undefined && options.yes !== true) {
    say(`${preview} will be ${change.participle}:`)
    say(await sampleText(client, type, choice, total))
    await confirm('Go on?', options)
  }
  const progress = startProgress({ title: change.verb, total, shown: total > PAGE && !output.json })
  const failures: Failure[] = []
  let changed = 0
  let done = 0
  try {
    for await (const page of pages(client, type, choice)) {
      changed += await applyTo(client, page, change, failures)
      done += page.length
      progress.update(done)
    }
  } finally {
    progress.end()
  }
  output.answer(
    { type: nameOf(type), verb: change.verb, matched, changed, failures, missing: Math.max(0, missing) },
    () => `${resultText(type, change, changed, failures, missing)}\n`,
  )
  if (failures.length > 0 || missing > 0) process.exitCode = EXIT_CODES.FAILED.code
}

async function* pages(client: Queryable, type: TypeDescription, choice: TaskChoice): AsyncGenerator<string[]> {
  let afterId: string | null = null
  for (;;) {
    const page = await chosenIds(client, type, choice, { afterId, limit: PAGE })
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    afterId = last
  }
}

async function applyTo(
  client: Queryable,
  ids: readonly string[],
  change: Change,
  failures: Failure[],
): Promise<number> {
  try {
    // A commit for each would take most of the time. The ids are in order, as every statement locks several rows.
    return ids.length === 1 ? await change.apply(ids) : await inShortTransaction(client, () => change.apply(ids))
  } catch (thrown) {
    const error = fromDatabaseError(thrown) as { code?: unknown; message: string }
    // Not the answer about a task: a lost connection, a missing right.
    const code = typeof error.code === 'string' ? error.code : null
    if (code === null || code === '42501' || /^(08|57|E[A-Z]+)/.test(code)) throw thrown
    if (ids.length === 1) {
      failures.push({ id: ids[0] as string, code, message: error.message })
      return 0
    }
    let changed = 0
    for (const id of ids) changed += await applyTo(client, [id], change, failures)
    return changed
  }
}

function nameOf({ schema, table }: TypeDescription): { schema: string; table: string } {
  return { schema, table }
}

function countText(count: number): string {
  return count === 1 ? '1 task' : `${formatNumber(count)} tasks`
}

function statesText(matched: Partial<Record<TaskState, number>>): string {
  return `(${Object.entries(matched)
    .map(([state, count]) => `${formatNumber(count)} ${state}`)
    .join(', ')})`
}

function resultText(
  type: TypeDescription,
  change: Change,
  changed: number,
  failures: readonly Failure[],
  missing: number,
): string {
  const lines = [`${countText(changed)} of ${typeLabel(type)} ${changed === 1 ? 'was' : 'were'} ${change.participle}.`]
  if (missing > 0) lines.push(`${countText(missing)} ${missing === 1 ? "isn't" : "aren't"} there.`)
  for (const { id, message } of failures.slice(0, MOST_FAILURES_TOLD)) lines.push(`  task ${id}: ${message}`)
  if (failures.length > MOST_FAILURES_TOLD)
    lines.push(`  and ${failures.length - MOST_FAILURES_TOLD} more (all with --json)`)
  return lines.join('\n')
}
