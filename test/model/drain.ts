import type { Trial } from './trial.js'
import type { NextDue } from './verbs/next-due.js'
import type { Call } from './world/call.js'
import { isPossible } from './world/is-possible.js'
import { isFinal } from './world/task-row.js'

const MOST_STEPS = 500

/**
 * Ends what is open, commits by turns, and then works as the last worker there is, going from one due time to the next.
 *
 * @throws if a task is still not at its end when nothing is due any more
 */
export async function drain(trial: Trial): Promise<void> {
  await endTransactions(trial)
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const due = (await ask(trial, { verb: 'nextDue', worker: null, slotsEmpty: true })) as NextDue
    const waits = [due.readyIn, due.rescueIn].filter((wait) => wait !== null)
    if (waits.length === 0) break
    if (Math.min(...waits) > 0) await trial.pass(Math.min(...waits))
    await work(trial)
  }
  const stuck = [...trial.world.rows.tasks.values()].filter((task) => !isFinal(task))
  if (stuck.length > 0) throw new Error(`Nothing is due, and these have not ended: ${JSON.stringify(stuck)}`)
}

async function endTransactions(trial: Trial): Promise<void> {
  for (;;) {
    const session = trial.world.sessions.findIndex(({ open, waiting }) => open && waiting === null)
    if (session === -1) return
    await trial.perform(session, { verb: session % 2 === 0 ? 'commit' : 'rollback' })
  }
}

async function work(trial: Trial): Promise<void> {
  const firstRun = trial.world.runs.length + 1
  const tasks = (await ask(trial, { verb: 'acquire', max: 3, worker: null, slotsEmpty: true })) as readonly number[]
  for (const [index, task] of tasks.entries()) await ask(trial, { verb: 'finish', task, run: firstRun + index })
}

async function ask(trial: Trial, call: Call): Promise<unknown> {
  if (!isPossible(trial.world, 0, call)) throw new Error(`${call.verb} is not possible in the end.`)
  const { answer } = await trial.perform(0, call)
  return answer !== undefined && 'value' in answer ? answer.value : undefined
}
