import {
  type Arbitrary,
  boolean,
  constant,
  constantFrom,
  integer,
  nat,
  oneof,
  option,
  record,
  subarray,
} from 'fast-check'
import { taskOfRun } from '../verbs/finish-many.js'
import type { Call, FinalState } from '../world/call.js'
import { isFinal } from '../world/task-row.js'
import type { World } from '../world/world.js'
import type { Choose } from './act.js'

const WORKERS = [1, 2] as const
const FINAL: readonly FinalState[] = ['finished', 'failed', 'canceled']

const worker = constantFrom(...WORKERS)
const index = nat(5)

/** Among which tasks is chosen: those whose row another session holds, those that have not ended, all that there ever were. */
const among = constantFrom('unfinished', 'held', 'all')
type Among = 'unfinished' | 'held' | 'all'

/** The newest come first, so that a small index, to which cases shrink, means what has just been made. */
function newest(keys: readonly number[], index: number): number | undefined {
  return keys.length === 0 ? undefined : keys[keys.length - 1 - (index % keys.length)]
}

function tasksAmong({ lastId, rows, sessions }: World, among: Among): readonly number[] {
  const all = Array.from({ length: lastId }, (_, at) => at + 1)
  if (among === 'all') return all
  if (among === 'held') return all.filter((task) => sessions.some(({ locks }) => locks.tasks.has(task)))
  return [...rows.tasks.values()].filter((task) => !isFinal(task)).map(({ id }) => id)
}

function runsAmong(world: World, among: Among): readonly number[] {
  const all = world.runs.map((_, at) => at + 1)
  if (among === 'all') return all
  const tasks = tasksAmong(world, among)
  return all.filter(
    (run) => tasks.includes(taskOfRun(world, run)) && world.rows.tasks.get(taskOfRun(world, run))?.run === run,
  )
}

function ofTask(call: (task: number) => Call): Arbitrary<Choose> {
  return record({ among, index }).map(({ among, index }) => (world) => {
    const task = newest(tasksAmong(world, among), index)
    return task === undefined ? undefined : call(task)
  })
}

function ofRun(call: (task: number, run: number, world: World) => Call): Arbitrary<Choose> {
  return record({ among, index }).map(({ among, index }) => (world) => {
    const run = newest(runsAmong(world, among), index)
    return run === undefined ? undefined : call(taskOfRun(world, run), run, world)
  })
}

function always<C extends Call>(call: Arbitrary<C>): Arbitrary<Choose> {
  return call.map((one) => () => one)
}

const when = oneof(
  constant({}),
  record({ delayMs: constantFrom(0, 500, 60_000) }),
  record({ plannedIn: constantFrom(0, -1_000, 30_000) }),
)

/** What a session may ask, by a name for the list of commands; those that make the most of the others come more often. */
export const CHOICES: Readonly<Record<string, { readonly weight: number; readonly choose: Arbitrary<Choose> }>> = {
  insert: {
    weight: 8,
    choose: record({
      priority: constantFrom(1, 0, 2, 3),
      plannedIn: constantFrom(0, -1_000, -1, 0, -30_000, 1, 60_000),
    }).map(({ priority, plannedIn }) => ({ lastId, now }) => ({
      verb: 'insert',
      task: lastId + 1,
      priority,
      plannedTo: now + plannedIn,
    })),
  },
  acquire: {
    weight: 6,
    choose: always(
      record({
        verb: constant('acquire'),
        max: integer({ min: 1, max: 3 }),
        worker: option(worker, { nil: null, freq: 4 }),
        slotsEmpty: constantFrom(true, true, false),
      }),
    ),
  },
  begin: { weight: 4, choose: always(constant({ verb: 'begin' })) },
  commit: { weight: 4, choose: always(constant({ verb: 'commit' })) },
  rollback: { weight: 1, choose: always(constant({ verb: 'rollback' })) },
  cut: { weight: 1, choose: always(constant({ verb: 'cut' })) },
  finish: { weight: 4, choose: ofRun((task, run) => ({ verb: 'finish', task, run })) },
  'finish without a token': { weight: 1, choose: ofTask((task) => ({ verb: 'finish', task, run: null })) },
  'finish many': { weight: 1, choose: subarray([0, 1, 2, 3, 4, 5], { minLength: 1 }).map(finishMany) },
  retry: {
    weight: 2,
    choose: when.chain((at) =>
      ofRun((task, run, { now }) => ({
        verb: 'retry',
        task,
        run,
        ...('delayMs' in at ? at : 'plannedIn' in at ? { plannedTo: now + at.plannedIn } : {}),
      })),
    ),
  },
  'retry without a token': { weight: 1, choose: ofTask((task) => ({ verb: 'retry', task, run: null })) },
  release: { weight: 1, choose: ofRun((task, run) => ({ verb: 'release', task, run })) },
  cancel: { weight: 2, choose: ofTask((task) => ({ verb: 'cancel', task, run: null })) },
  'cancel with a token': { weight: 1, choose: ofRun((task, run) => ({ verb: 'cancel', task, run })) },
  reset: { weight: 2, choose: ofTask((task) => ({ verb: 'reset', task })) },
  rescue: { weight: 1, choose: always(constant({ verb: 'rescue' })) },
  heartbeat: { weight: 4, choose: record({ worker, findStrays: boolean(), forgets: index }).map(heartbeat) },
  'close lease': { weight: 1, choose: always(record({ verb: constant('closeLease'), worker })) },
  clean: {
    weight: 1,
    choose: record({ states: subarray([...FINAL], { minLength: 1 }), ago: constantFrom(-1, 0, 30_000) }).map(
      ({ states, ago }) =>
        ({ now }) => ({ verb: 'clean', endedBefore: now - ago, states }),
    ),
  },
  'next due': {
    weight: 1,
    choose: always(record({ verb: constant('nextDue'), worker: option(worker, { nil: null }), slotsEmpty: boolean() })),
  },
  'sleep locks': {
    weight: 1,
    choose: always(record({ verb: constantFrom('fallAsleep', 'wakeUp', 'stayAwake', 'stopAwake', 'nothingInFlight') })),
  },
}

/** The runs that the worker was given last, but for one that it may have forgotten. */
function heartbeat({ worker, findStrays, forgets }: { worker: number; findStrays: boolean; forgets: number }): Choose {
  return ({ runs }) => ({
    verb: 'heartbeat',
    worker,
    findStrays,
    runs: runs.flatMap((run, at) => (run.worker === worker && at % 6 !== forgets ? at + 1 : [])),
  })
}

/** A worker gives each task once. */
function finishMany(indices: readonly number[]): Choose {
  return (world) => {
    const runs = new Map<number, number>()
    for (const chosen of indices) {
      const run = newest(runsAmong(world, 'all'), chosen)
      if (run !== undefined && !runs.has(taskOfRun(world, run))) runs.set(taskOfRun(world, run), run)
    }
    return runs.size === 0 ? undefined : { verb: 'finishMany', runs: [...runs.values()] }
  }
}
