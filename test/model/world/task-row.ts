export type State = 'scheduled' | 'ready' | 'running' | 'finished' | 'failed' | 'canceled'

/** A task as the model knows it: the columns that decide. Instants are milliseconds after the beginning of the trial. */
export interface TaskRow {
  readonly id: number
  readonly priority: number
  readonly plannedTo: number
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly failedAt: number | null
  readonly canceledAt: number | null
  readonly failureReason: string | null
  readonly executionCount: number
  readonly lostCount: number
  /** Number of the run whose token the row bears. */
  readonly run: number | null
  readonly worker: number | null
  readonly runUntil: number | null
}

export function newTask(id: number, priority: number, plannedTo: number): TaskRow {
  return {
    id,
    priority,
    plannedTo,
    startedAt: null,
    finishedAt: null,
    failedAt: null,
    canceledAt: null,
    failureReason: null,
    executionCount: 0,
    lostCount: 0,
    ...NO_RUN,
  }
}

/** What a row bears that no run holds. */
export const NO_RUN = { run: null, worker: null, runUntil: null } as const

export function stateOf(task: TaskRow, now: number): State {
  if (task.finishedAt !== null) return 'finished'
  if (task.canceledAt !== null) return 'canceled'
  if (task.failedAt !== null) return 'failed'
  if (task.startedAt !== null) return 'running'
  return task.plannedTo > now ? 'scheduled' : 'ready'
}

export function isFinal(task: TaskRow): boolean {
  return task.finishedAt !== null || task.canceledAt !== null || task.failedAt !== null
}

export function isRunning(task: TaskRow): boolean {
  return task.startedAt !== null && !isFinal(task)
}

export function isWaiting(task: TaskRow): boolean {
  return task.startedAt === null && !isFinal(task)
}

/** A task that was lost twice is acquired alone. */
export function isSuspect(task: TaskRow): boolean {
  return task.lostCount >= 2
}

export function byTurn(one: TaskRow, other: TaskRow): number {
  return one.priority - other.priority || one.plannedTo - other.plannedTo || one.id - other.id
}
