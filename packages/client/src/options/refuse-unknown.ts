import { InvalidOptionError } from '../errors/invalid-option-error.js'
import { didYouMean } from './did-you-mean.js'
import { named } from './named.js'

/**
 * Refuses options that don't exist, where a call takes few of them on its way to the database.
 *
 * @param owner - whose options they are, as the message should say: `enqueue`
 * @throws {@link InvalidOptionError} with a suggestion; also unless it is an object
 */
export function refuseUnknown(owner: string, given: object, known: readonly string[]): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new InvalidOptionError(owner, 'options', `must be an object, not ${named(given)}.`)
  }
  for (const option of Object.keys(given)) if (!known.includes(option)) throw unknownOption(owner, option, known)
}

/** The error for an option that doesn't exist. */
export function unknownOption(owner: string, option: string, known: readonly string[]): InvalidOptionError {
  const meant = didYouMean(option, known)
  const advice = meant === undefined ? `There are: ${known.join(', ')}.` : `Did you mean "${meant}"?`
  return new InvalidOptionError(owner, option, `is unknown. ${advice}`)
}
