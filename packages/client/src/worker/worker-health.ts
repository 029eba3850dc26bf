/** What a worker knows of itself at one moment; times are the local wall clock, for people. */
export interface WorkerHealth {
  /** The worker's identity, `run_worker` of its tasks. */
  readonly id: string
  /** `new` before `run()`; `stopping` from `stop()` until everything has ended. */
  readonly state: 'new' | 'running' | 'stopping' | 'stopped'
  /** Whether notifications arrive, as far as the last ping has shown; without them, tasks are found by the poll. */
  readonly listening: boolean
  /** When a ping last came back; one is sent every 15 s and may take 5 s. */
  readonly lastPingAt: Date | undefined
  /** How often the listener has begun to listen again. */
  readonly reconnects: number
  /** Whether the database answers. */
  readonly database: DatabaseHealth
  /** The task types, in the order in which they were added. */
  readonly types: readonly TypeHealth[]
}

/** Whether the database answers, as the worker's own connections have seen it. */
export interface DatabaseHealth {
  /** False too before the first answer, and when the worker has stopped. A silent network is noticed within 20 s. */
  readonly answers: boolean
  /** When it last answered. */
  readonly lastAnswerAt: Date | undefined
  /** Why `answers` is false, where something went wrong; without password. */
  readonly error: string | undefined
}

/** What a worker knows of one of its task types. */
export interface TypeHealth {
  readonly schema: string
  readonly table: string
  /** Whether the type was found in the database. */
  readonly registered: boolean
  /** Why tasks can't be acquired now; it is tried again by itself. Without password. */
  readonly error: string | undefined
  /** Whether row level security decides which tasks the worker's role sees; the others don't run. */
  readonly rowSecurity: boolean
  /** Whether the worker sleeps until a commit wakes it or a task is due. */
  readonly asleep: boolean
  /** Handlers that run. */
  readonly running: number
  /** Tasks that were acquired and wait for a slot. */
  readonly queued: number
  /** Runs that have ended and whose outcome isn't written yet. */
  readonly unsettled: number
  /** The lease that covers the worker's tasks of this type. */
  readonly lease: LeaseHealth
  /** When an acquire last succeeded, with or without tasks. A worker without a free slot acquires nothing. */
  readonly lastAcquireAt: Date | undefined
  /** How late the latest of the last acquired tasks was, in milliseconds by the database's clock; 0: nothing was due. */
  readonly lagMs: number | undefined
}

/** A lease as its worker knows it. */
export interface LeaseHealth {
  /** `none`: nothing runs; `held`; `overdue`: not renewed in time, so that another worker may take the tasks. */
  readonly state: 'none' | 'held' | 'overdue'
  /** When it was last renewed, or opened. */
  readonly renewedAt: Date | undefined
}
