import { type WaitOptions, wait } from './wait.js'

/**
 * Waits for `delayMs` or until the signal is aborted, whichever comes first; never rejects.
 *
 * @param delayMs - milliseconds, of any size; `Infinity` waits for the signal alone
 */
export function sleep(delayMs: number, options: WaitOptions = {}): Promise<'elapsed' | 'aborted'> {
  return wait<never>(delayMs, options, () => {})
}
