import { startTimer } from './start-timer.js'

/**
 * Settles as `work` does, or rejects with `onExpired()` once `deadlineMs` have gone by.
 *
 * Work that settles later is ignored, a late rejection too. A process that was busy or suspended finds its timers elapsed
 * before it has read the answers that lie in its sockets; so they are read once more before the deadline counts.
 */
export function withDeadline<Value>(
  work: PromiseLike<Value>,
  deadlineMs: number,
  onExpired: () => Error,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    let settled = false
    const settle = (action: () => void): void => {
      if (settled) return
      settled = true
      cancelTimer()
      action()
    }
    const cancelTimer = startTimer(deadlineMs, () => {
      afterReading(() => settle(() => reject(onExpired())))
    })
    work.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    )
  })
}

/** Two turns of the event loop: immediates run after the poll phase, in which sockets are read. */
function afterReading(then: () => void): void {
  setImmediate(() => setImmediate(then))
}
