import type { ChaosType } from '../load/task-types.js'

/** What a process of the chaos is told, as JSON in its first argument. */
export interface ProgramOptions {
  /** Its name in the history. */
  readonly name: string
  readonly folder: string
  readonly seed: string
  /** One per server, through the proxies of the process's own. */
  readonly urls: readonly string[]
  readonly types: readonly ChaosType[]
  readonly pollMs: number
  /** By how much its clock is wrong. */
  readonly clockShiftMs: number
  /** Which habits of the load are on. */
  readonly load: LoadOptions
}

export interface LoadOptions {
  /** Enqueuers at once, of each kind. */
  readonly shortTransactions: number
  readonly longTransactions: number
  /** Whether somebody cancels, resets, cleans, and acquires without a worker. */
  readonly operator: boolean
  readonly borrower: boolean
  /** Longest pause between two transactions of an enqueuer. */
  readonly pauseMs: number
  /** No more is enqueued while so many tasks are unfinished. */
  readonly mostUnfinished: number
}

export function programOptions(): ProgramOptions {
  return JSON.parse(process.argv[2] ?? '') as ProgramOptions
}
