import { InvalidOptionError } from '../errors/invalid-option-error.js'
import { named } from './named.js'
import { unknownOption } from './refuse-unknown.js'

/** Says what is wrong with the option that is being checked; the check itself doesn't know whose option it is. */
export type Refuse = (problem: string) => never

/** Checks one option and gives its value, the default where it is `undefined`. */
export type OptionCheck<Value> = (given: unknown, refuse: Refuse) => Value

/** One check per option. */
export type OptionSpec<Options> = { readonly [Name in keyof Options]-?: OptionCheck<Options[Name]> }

/**
 * Validates options once, where they come in: unknown ones are refused with a suggestion, each known one passes its check, and
 * the result is complete and frozen.
 *
 * @param owner - whose options they are, as the message should say: `Worker`
 * @throws {@link InvalidOptionError} that names the option
 *
 * @example
 * const resolved = checkOptions('Worker', given, {
 *   pollIntervalMs: durationMs({ default: 30_000 }),
 *   handleSignals: flag({ default: true }),
 * })
 */
export function checkOptions<Options extends object>(
  owner: string,
  given: unknown,
  spec: OptionSpec<Options>,
): Readonly<Options> {
  if (given !== undefined && (typeof given !== 'object' || given === null || Array.isArray(given))) {
    throw new InvalidOptionError(owner, 'options', `must be an object, not ${named(given)}.`)
  }
  const values = (given ?? {}) as Readonly<Record<string, unknown>>
  const known = Object.keys(spec)
  for (const option of Object.keys(values)) {
    if (!Object.hasOwn(spec, option)) throw unknownOption(owner, option, known)
  }
  const checks = spec as Readonly<Record<string, OptionCheck<unknown>>>
  const checked = known.map((option) => {
    const refuse: Refuse = (problem) => {
      throw new InvalidOptionError(owner, option, problem)
    }
    return [option, checks[option]?.(values[option], refuse)]
  })
  return Object.freeze(Object.fromEntries(checked)) as Readonly<Options>
}
