import type { NextDue } from '@pg-tasks/sql'
import type { Backoff } from '../../backoff/backoff.js'

export interface SleepTimeOptions {
  readonly pollIntervalMs: number
  /** For due rows that can't be taken. */
  readonly untakable: Backoff
  /** When to rescue, in milliseconds from now, given when a lease ends. */
  readonly planRescue: (inMs: number) => number
}

/** How long a worker that has found nothing may sleep, in milliseconds: until something is due, and never longer than the poll. */
export function sleepTime(due: NextDue, { pollIntervalMs, untakable, planRescue }: SleepTimeOptions): number {
  let delayMs = pollIntervalMs * (0.9 + 0.2 * Math.random())
  if (due.readyInMs !== null) {
    delayMs = Math.min(delayMs, due.readyInMs > 0 ? Math.ceil(due.readyInMs) : untakable.next())
  }
  if (due.laterInMs !== null) delayMs = Math.min(delayMs, Math.ceil(due.laterInMs))
  if (due.sweepInMs !== null) delayMs = Math.min(delayMs, Math.max(due.sweepInMs, 1))
  if (due.rescueInMs !== null) delayMs = Math.min(delayMs, planRescue(due.rescueInMs))
  return delayMs
}
