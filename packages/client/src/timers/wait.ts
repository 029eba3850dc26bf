import { startTimer, type TimerOptions } from './start-timer.js'

/** How long to wait at most. */
export interface WaitOptions extends TimerOptions {
  /** Ends the wait early; the listener on it is removed however the wait ends. */
  readonly signal?: AbortSignal | undefined
}

/**
 * The one place where a timer and an abort signal are waited for: `start` is given `end`, whichever comes first ends the
 * wait, and nothing stays behind.
 */
export function wait<Outcome>(
  delayMs: number,
  { signal, unref = false }: WaitOptions,
  start: (end: (outcome: Outcome) => void) => void,
): Promise<Outcome | 'elapsed' | 'aborted'> {
  if (signal?.aborted) return Promise.resolve('aborted')
  return new Promise((resolve) => {
    const end = (outcome: Outcome | 'elapsed' | 'aborted'): void => {
      cancelTimer()
      signal?.removeEventListener('abort', onAbort)
      resolve(outcome)
    }
    const onAbort = (): void => end('aborted')
    const cancelTimer = startTimer(delayMs, () => end('elapsed'), { unref })
    signal?.addEventListener('abort', onAbort, { once: true })
    start(end)
  })
}
