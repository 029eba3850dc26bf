import type { HandlerEnd } from '../settle/outcome.js'

/** Calls a task's handler and tells how it ended, once and never in the same turn: a handler needn't be async. */
export function callHandler<Run>(run: Run, call: (run: Run) => unknown, onEnd: (end: HandlerEnd) => void): void {
  try {
    const running: unknown = call(run)
    if (isThenable(running)) {
      // Not its own `then`: a promise-like may call back twice.
      Promise.resolve(running).then(
        () => onEnd({ threw: false }),
        (error: unknown) => onEnd({ threw: true, error }),
      )
    } else {
      // Else such handlers would recurse through the whole queue.
      queueMicrotask(() => onEnd({ threw: false }))
    }
  } catch (error) {
    queueMicrotask(() => onEnd({ threw: true, error }))
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
