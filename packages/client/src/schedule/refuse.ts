import { InvalidOptionError } from '../errors/invalid-option-error.js'

/** Refuses an option of a schedule, showing what was given. */
export function refuse(option: string, given: unknown, reason: string, details?: { readonly cause: unknown }): never {
  const shown = typeof given === 'string' ? JSON.stringify(given) : String(given)
  throw new InvalidOptionError('Schedule', option, `is ${shown}: ${reason}.`, details)
}
