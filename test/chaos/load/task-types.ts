import type { RegisterOptions } from '@pg-tasks/sql'

/** Length of every lease. */
export const LEASE_MS = 3_000

/** How long an idle worker sleeps at most: longer than what a lost wake-up may hide behind. */
export const POLL_MS = 15_000

/** In the end nothing may stand still for longer: a lease, the rescue after it, a poll, and what a busy machine adds. */
export const STANDSTILL_MS = LEASE_MS * 1.25 + POLL_MS + 15_000

/** What a handler does; most end by an effect row in the transaction that finishes the task. */
export const KINDS = [
  /** Returns: the worker finishes it, in a batch. */
  'return',
  /** Writes its effect in the transaction that finishes it. */
  'effect',
  /** The same; if the answer to COMMIT is lost, it does the whole transaction again. */
  'repeat',
  /** Finishes, and throws before COMMIT, as often as `fails` says. */
  'throw_before_commit',
  /** Finishes, and throws after COMMIT. */
  'throw_after_commit',
  /** Throws, as often as `fails` says, and then returns. */
  'throw',
  /** Throws RetryTask. */
  'retry_task',
  /** Retries itself in a transaction of its own. */
  'retry_itself',
  /** Throws CancelTask. */
  'cancel_task',
  /** Two steps through `once`: one outside, one in the finishing transaction. */
  'steps',
  /** Sleeps without heeding its signal. */
  'deaf',
  /** Writes its effect in the transaction of its batch, and throws after it as often as `fails` says. */
  'in_batch',
] as const

export type Kind = (typeof KINDS)[number]

/** The user's own columns, the same for all types. */
export interface Own {
  /** Who enqueued it calls it this. */
  readonly ref: string
  readonly kind: Kind
  /** Counts resets: each makes the task do its work anew. */
  readonly generation: number
  readonly work_ms: number
  /** How many attempts fail before one succeeds. */
  readonly fails: number
  readonly account: string | null
}

/** A task type of the chaos. */
export interface ChaosType {
  readonly table: string
  readonly register: RegisterOptions
  /** Handlers at once in each worker. */
  readonly concurrency: number
  /** How often it is chosen, beside the others; 0: never enqueued by the load. */
  readonly weight: number
  readonly kinds: Readonly<Partial<Record<Kind, number>>>
  readonly longestWorkMs: number
  /** Whether it sees bursts, silence, and commits that come late, and nothing else. */
  readonly bursts?: boolean
  /** Most tasks at once in all processes. */
  readonly limit?: number
  /** Whether tasks of one account run one after the other. */
  readonly serial?: boolean
  /** Whether at most one task of an account waits. */
  readonly unique?: boolean
  /** The table to which the end of a group of its tasks enqueues one; their account is the group. */
  readonly callback?: string
  /** Whether its tasks are run and settled in one transaction. */
  readonly oneTransaction?: boolean
}

const REGISTER = { timeout: `${LEASE_MS} milliseconds`, maxRetries: 500, backoffBase: '100 ms', backoffMax: '1 s' }

export const TASK_TYPES: readonly ChaosType[] = [
  {
    table: 'plain',
    register: REGISTER,
    concurrency: 6,
    weight: 10,
    kinds: {
      return: 5,
      effect: 5,
      repeat: 4,
      throw_before_commit: 2,
      throw_after_commit: 2,
      throw: 2,
      retry_task: 1,
      retry_itself: 2,
      cancel_task: 1,
      steps: 5,
    },
    longestWorkMs: 1_200,
  },
  {
    table: 'gone',
    register: { ...REGISTER, storageTime: '0' },
    concurrency: 3,
    weight: 4,
    kinds: { return: 2, effect: 2, repeat: 2, throw_after_commit: 1, steps: 1 },
    longestWorkMs: 800,
  },
  {
    table: 'fragile',
    register: { ...REGISTER, maxRetries: 2 },
    concurrency: 2,
    weight: 2,
    kinds: { throw: 3, effect: 1, throw_before_commit: 1 },
    longestWorkMs: 200,
  },
  {
    table: 'slow',
    register: { ...REGISTER, runLimit: '1500 ms', maxRetries: 3 },
    concurrency: 3,
    weight: 1,
    kinds: { effect: 2, return: 2, deaf: 1, steps: 1 },
    longestWorkMs: 2_500,
  },
  {
    table: 'keyed',
    register: REGISTER,
    concurrency: 3,
    weight: 3,
    kinds: { effect: 3, return: 3, throw: 1, retry_task: 1 },
    longestWorkMs: 100,
    serial: true,
    limit: 4,
  },
  {
    table: 'narrow',
    register: REGISTER,
    concurrency: 3,
    weight: 2,
    kinds: { effect: 1, return: 1, throw: 1 },
    longestWorkMs: 200,
    limit: 3,
  },
  {
    table: 'quiet',
    register: REGISTER,
    concurrency: 1,
    weight: 0,
    kinds: { return: 1 },
    longestWorkMs: 300,
    bursts: true,
  },
  {
    table: 'lone',
    register: REGISTER,
    concurrency: 3,
    weight: 3,
    kinds: { effect: 2, return: 2, throw: 2, retry_task: 1, throw_before_commit: 1 },
    longestWorkMs: 400,
    unique: true,
  },
  {
    table: 'member',
    register: { ...REGISTER, maxRetries: 4 },
    concurrency: 4,
    weight: 3,
    kinds: { effect: 2, return: 3, throw: 2, cancel_task: 1 },
    longestWorkMs: 200,
    callback: 'album',
  },
  { table: 'album', register: REGISTER, concurrency: 1, weight: 0, kinds: { return: 1 }, longestWorkMs: 50 },
  {
    table: 'quick',
    register: REGISTER,
    concurrency: 20,
    weight: 4,
    kinds: { in_batch: 1 },
    longestWorkMs: 20,
    oneTransaction: true,
  },
  { table: 'tick', register: REGISTER, concurrency: 2, weight: 0, kinds: { effect: 1 }, longestWorkMs: 50 },
]
