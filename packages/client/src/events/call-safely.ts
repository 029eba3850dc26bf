/**
 * Calls a function of the user's. What it throws, or what a promise of its is rejected with, goes to `onFailure` and no
 * further.
 */
export function callSafely(call: () => unknown, onFailure: (error: unknown) => void): void {
  try {
    const returned = call()
    if (isThenable(returned)) returned.then(undefined, (error: unknown) => report(error, onFailure))
  } catch (error) {
    report(error, onFailure)
  }
}

function report(error: unknown, onFailure: (error: unknown) => void): void {
  try {
    onFailure(error)
  } catch {
    // Who should be told has failed itself; the caller's work goes on.
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
