import type { Retried, Run } from '@pg-tasks/sql'

/** How a handler has settled its own task on a connection of its own; whether that is committed nobody here knows. */
export interface SettledByHandler {
  readonly verb: 'finish' | 'retry' | 'cancel'
  /** What a retry made of it, once that is answered. */
  readonly retried?: Retried
}

/** What a run's own handler has done with its task so far. */
export interface HeldRun extends Run {
  /** Set by finish, retry and cancel on the caller's connection: the worker looks afterwards whether it was committed. */
  settled: SettledByHandler | undefined
}

/** The runs that this process holds, by task object and id: an id without a token is fenced with the one held here. */
const heldRuns = new WeakMap<object, Map<string, HeldRun>>()

export function runsOf(task: object): Map<string, HeldRun> {
  let runs = heldRuns.get(task)
  if (runs === undefined) {
    runs = new Map()
    heldRuns.set(task, runs)
  }
  return runs
}
