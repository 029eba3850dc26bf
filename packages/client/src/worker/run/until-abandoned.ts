import { startTimer } from '../../timers/start-timer.js'
import type { ActiveRun } from './active-run.js'

/** A handler went on although its signal was aborted: nobody waits for it any longer. */
export class AbandonedError extends Error {}

/** Waits for a run's handler; once it is aborted, no longer than the grace. */
export async function untilAbandoned<Value>(
  run: ActiveRun,
  graceMs: number,
  handler: () => Promise<Value>,
): Promise<Value> {
  let cancelTimer = (): void => {}
  const abandoned = new Promise<never>((_, reject) => {
    run.onAborted = () => {
      cancelTimer = startTimer(graceMs, () =>
        reject(new AbandonedError('A handler went on', { cause: run.abortReason })),
      )
    }
  })
  if (run.abortReason !== undefined) run.onAborted?.()
  try {
    return await Promise.race([handler(), abandoned])
  } finally {
    run.onAborted = undefined
    cancelTimer()
  }
}
