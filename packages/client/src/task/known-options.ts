import { refuseUnknown } from '../options/refuse-unknown.js'

/** Options that the methods of a Task, and the functions about its type, take. */
const KNOWN = {
  enqueue: ['delayMs', 'onConflict'],
  finish: ['comment'],
  retry: ['plannedTo', 'delayMs', 'comment', 'error', 'reason'],
  cancel: ['comment'],
  reset: ['forgetMarks'],
  clean: ['before', 'olderThanMs', 'states', 'maxNum'],
  failed: ['limit', 'before'],
  resetFailed: ['where', 'maxNum', 'preview'],
  limitRate: ['count', 'perMs', 'burst'],
  limitKeys: ['columns', 'concurrency', 'onRetry'],
  uniqueWhile: ['columns', 'whileRunning'],
  createGroup: ['policy'],
} as const

/**
 * An option that is not heeded can do harm: with `wher`, `resetFailed` would reset them all.
 *
 * @throws InvalidOptionError for an unknown one
 */
export function checkKnown(method: keyof typeof KNOWN, options: object): void {
  refuseUnknown(method, options, KNOWN[method])
}
