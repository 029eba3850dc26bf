import { checkOptions } from '../options/check-options.js'
import { durationMs } from '../options/checks.js'
import type { TypeContext } from './type/type-context.js'
import { warnUnheard } from './warn-unheard.js'

/**
 * How long running handlers may go on, in milliseconds. Options that can't be used are told and no reason not to stop: whoever
 * calls `stop` is mostly about to end the process.
 */
export function stopTimeout(given: unknown, context: Pick<TypeContext, 'options' | 'events' | 'logger'>): number {
  const fallback = context.options.stopTimeoutMs
  try {
    return checkOptions('stop', given, { timeoutMs: durationMs({ min: 0, default: fallback }) }).timeoutMs
  } catch (error) {
    const { message } = error as Error
    context.logger.error({ error: message }, `Stopping within stopTimeoutMs, ${fallback} ms`)
    warnUnheard(context, `The worker stops within its stopTimeoutMs, ${fallback} ms. ${message}`)
    context.events.emit('error', error, undefined)
    return fallback
  }
}
