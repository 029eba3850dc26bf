/** The longest delay of `setTimeout`; a longer one fires at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

/** How a timer behaves. */
export interface TimerOptions {
  /**
   * Lets the process end although the timer is running.
   * @defaultValue false
   */
  readonly unref?: boolean
}

/**
 * Calls `onElapsed` once, `delayMs` from now; `Infinity` never does.
 *
 * Unlike `setTimeout` it takes delays of any length: long ones are armed again.
 *
 * @returns a function that cancels the timer
 */
export function startTimer(delayMs: number, onElapsed: () => void, { unref = false }: TimerOptions = {}): () => void {
  const end = performance.now() + delayMs
  let timer: NodeJS.Timeout
  const arm = (leftMs: number): void => {
    timer = setTimeout(onTimeout, Math.min(Math.max(leftMs, 0), LONGEST_DELAY_MS))
    if (unref) timer.unref()
  }
  const onTimeout = (): void => {
    const leftMs = end - performance.now()
    // Node fires up to a millisecond early; that is not worth another round.
    if (leftMs > 1) arm(leftMs)
    else onElapsed()
  }
  arm(delayMs)
  return () => clearTimeout(timer)
}
