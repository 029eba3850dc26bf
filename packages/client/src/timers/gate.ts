import { type WaitOptions, wait } from './wait.js'

/**
 * What a loop sleeps on: `wake()` ends its wait, and a wake that came while nobody waited is remembered, so that it isn't
 * lost between two waits. Any number of wakes before a wait count as one.
 */
export class Gate {
  #woken = false
  #endWait: (() => void) | undefined

  /** Whether a wake is remembered that no wait has consumed yet. */
  get woken(): boolean {
    return this.#woken
  }

  /** Ends the wait, or makes the next one end at once. */
  wake(): void {
    this.#woken = true
    this.#endWait?.()
  }

  /** Forgets a remembered wake: what it asked for is about to be done. */
  consume(): boolean {
    const woken = this.#woken
    this.#woken = false
    return woken
  }

  /**
   * Waits for a wake (and consumes it), for `delayMs`, or for the signal. One waiter at a time.
   *
   * @param delayMs - milliseconds, of any size; `Infinity` waits without end
   */
  async wait(delayMs: number, options: WaitOptions = {}): Promise<'woken' | 'elapsed' | 'aborted'> {
    if (this.#endWait !== undefined) throw new Error('A gate has one waiter at a time.')
    if (options.signal?.aborted) return 'aborted'
    if (this.consume()) return 'woken'
    try {
      const outcome = await wait<'woken'>(delayMs, options, (end) => {
        this.#endWait = () => end('woken')
      })
      if (outcome === 'aborted') return outcome
      // A wake in the same turn as the timer is this wait's too.
      return this.consume() ? 'woken' : outcome
    } finally {
      this.#endWait = undefined
    }
  }
}
