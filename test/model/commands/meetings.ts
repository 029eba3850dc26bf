import { type Arbitrary, boolean, constantFrom, nat, record } from 'fast-check'
import type { Call } from '../world/call.js'
import { isRunning } from '../world/task-row.js'
import type { World } from '../world/world.js'
import { Act, type Choose } from './act.js'
import { SESSIONS } from './play.js'

const session = constantFrom(...Array.from({ length: SESSIONS }, (_, index) => index))

/** A finish whose COMMIT is not answered, whether or not it was carried out, and the same finish again on another connection. */
export const unknownCommit: Arbitrary<Act> = record({
  session,
  other: session,
  chosen: nat(5),
  commits: boolean(),
}).map(({ session, other, chosen, commits }) => {
  const finish: Choose = ({ runs }) => {
    const run = runs.length - (chosen % Math.max(1, runs.length))
    const begun = runs[run - 1]
    return begun && { verb: 'finish', task: begun.task, run }
  }
  return new Act(
    `finish, a commit that is ${commits ? '' : 'not '}carried out, and the finish again`,
    [session, (world) => finish(world) && { verb: 'begin' }],
    [session, finish],
    [session, () => ({ verb: commits ? 'commit' : 'cut' })],
    [other, finish],
  )
})

/** What can become of a running task. */
const OUTCOMES: Readonly<Record<string, (task: number, run: number) => Call>> = {
  finish: (task, run) => ({ verb: 'finish', task, run }),
  'finish without a token': (task) => ({ verb: 'finish', task, run: null }),
  retry: (task, run) => ({ verb: 'retry', task, run, delayMs: 0 }),
  'retry without a token': (task) => ({ verb: 'retry', task, run: null }),
  release: (task, run) => ({ verb: 'release', task, run }),
  cancel: (task) => ({ verb: 'cancel', task, run: null }),
  'cancel with a token': (task, run) => ({ verb: 'cancel', task, run }),
  reset: (task) => ({ verb: 'reset', task }),
}

const outcome = constantFrom(...Object.entries(OUTCOMES))

/** Two sessions come to one running task, the first of them in a transaction that ends some time later. */
export const meeting: Arbitrary<Act> = record({
  session,
  other: session,
  chosen: nat(3),
  first: outcome,
  second: outcome,
}).map(({ session, other, chosen, first: [firstName, first], second: [secondName, second] }) => {
  const choose =
    (call: (task: number, run: number) => Call): Choose =>
    (world) => {
      const [task, run] = runningRun(world, chosen) ?? []
      return task === undefined || run === undefined ? undefined : call(task, run)
    }
  return new Act(
    `${firstName} in a transaction, which meets ${secondName}`,
    [session, choose(() => ({ verb: 'begin' }))],
    [session, choose(first)],
    [other, choose(second)],
  )
})

function runningRun({ rows }: World, chosen: number): readonly [task: number, run: number] | undefined {
  const runs = [...rows.tasks.values()].flatMap((task) =>
    isRunning(task) && task.run !== null ? [[task.id, task.run] as const] : [],
  )
  return runs[runs.length - 1 - (chosen % Math.max(1, runs.length))]
}

/** A run whose lease has ended acts after its task was taken over. */
export const takeover: Arbitrary<Act> = record({ session, other: session, worker: constantFrom(null, 1), outcome }).map(
  ({ session, other, worker, outcome: [name, act] }) =>
    new Act(
      `acquire, a takeover, and ${name} by the run that lost its task`,
      [session, () => ({ verb: 'acquire', max: 1, worker, slotsEmpty: false })],
      { passMs: 60_000 },
      [other, () => ({ verb: 'acquire', max: 3, worker: null, slotsEmpty: true })],
      [session, (world) => lostRun(world, act)],
    ),
)

/** What is due is lost twice, so that it is under suspicion; then somebody comes for more than one. */
export const suspicion: Arbitrary<Act> = record({ session, other: session }).map(({ session, other }) => {
  const acquire: Choose = () => ({ verb: 'acquire', max: 3, worker: null, slotsEmpty: true })
  return new Act(
    'tasks are lost twice',
    [session, acquire],
    { passMs: 60_000 },
    [other, acquire],
    { passMs: 60_000 },
    [session, () => ({ verb: 'rescue' })],
    { passMs: 1_000 },
    [other, acquire],
  )
})

function lostRun({ rows, runs }: World, act: (task: number, run: number) => Call): Call | undefined {
  for (const task of rows.tasks.values()) {
    const lost = runs.findIndex((run, at) => run.task === task.id && at + 1 !== task.run)
    if (isRunning(task) && lost !== -1) return act(task.id, lost + 1)
  }
  return undefined
}
