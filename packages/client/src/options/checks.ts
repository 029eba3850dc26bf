import { type Logger, logLevels } from '../logger/logger.js'
import type { OptionCheck } from './check-options.js'
import { named } from './named.js'

/** The largest integer of PostgreSQL, and the longest delay of one timer in milliseconds. */
const LARGEST = 2 ** 31 - 1

/** Bounds and default of a number. */
export interface NumberBounds<Default> {
  /** @defaultValue 1 */
  readonly min?: number
  /** @defaultValue 2³¹ − 1 */
  readonly max?: number
  /** Taken where the option is not given; without it the option is required. */
  readonly default?: Default
}

/** A whole number within bounds. */
export function integer<Default = never>(bounds: NumberBounds<Default> = {}): OptionCheck<number | Default> {
  return numberCheck(bounds, 'a whole number', Number.isInteger)
}

/** A duration in milliseconds within bounds. */
export function durationMs<Default = never>(bounds: NumberBounds<Default> = {}): OptionCheck<number | Default> {
  return numberCheck(bounds, 'a number of milliseconds', Number.isFinite)
}

function numberCheck<Default>(
  bounds: NumberBounds<Default>,
  what: string,
  valid: (value: unknown) => boolean,
): OptionCheck<number | Default> {
  const { min = 1, max = LARGEST } = bounds
  return (given, refuse) => {
    if (given === undefined && 'default' in bounds) return bounds.default as Default
    if (typeof given === 'number' && valid(given) && given >= min && given <= max) return given
    return refuse(`must be ${what} from ${min} to ${max}, not ${named(given)}.`)
  }
}

/** True or false. */
export function flag<Default = never>(bounds: { readonly default?: Default } = {}): OptionCheck<boolean | Default> {
  return (given, refuse) => {
    if (given === undefined && 'default' in bounds) return bounds.default as Default
    return typeof given === 'boolean' ? given : refuse(`must be true or false, not ${named(given)}.`)
  }
}

/** A text that is not empty. */
export function text<Default = never>(bounds: { readonly default?: Default } = {}): OptionCheck<string | Default> {
  return (given, refuse) => {
    if (given === undefined && 'default' in bounds) return bounds.default as Default
    if (typeof given === 'string' && given !== '' && !given.includes('\u0000')) return given
    return refuse(`must be a text that is not empty, not ${given === '' ? 'an empty one' : named(given)}.`)
  }
}

/** A list of texts that are not empty; a copy of it, which nobody changes. */
export function texts<Default = never>(
  bounds: { readonly default?: Default } = {},
): OptionCheck<readonly string[] | Default> {
  return (given, refuse) => {
    if (given === undefined && 'default' in bounds) return bounds.default as Default
    if (!Array.isArray(given)) return refuse(`must be an array of texts, not ${named(given)}.`)
    const one = text()
    return Object.freeze(given.map((value) => one(value, refuse)))
  }
}

/** One of some texts. */
export function oneOf<const Value extends string, Default = never>(
  values: readonly Value[],
  bounds: { readonly default?: Default } = {},
): OptionCheck<Value | Default> {
  return (given, refuse) => {
    if (given === undefined && 'default' in bounds) return bounds.default as Default
    const value = values.find((one) => one === given)
    return value ?? refuse(`must be one of ${values.map((one) => `'${one}'`).join(', ')}, not ${named(given)}.`)
  }
}

/** A function. */
export function callback<Callback, Default = never>(
  bounds: { readonly default?: Default } = {},
): OptionCheck<Callback | Default> {
  return (given, refuse) => {
    if (given === undefined && 'default' in bounds) return bounds.default as Default
    return typeof given === 'function' ? (given as Callback) : refuse(`must be a function, not ${named(given)}.`)
  }
}

/** A logger: an object with the four levels as functions. */
export function loggerOption<Default = never>(
  bounds: { readonly default?: Default } = {},
): OptionCheck<Logger | Default> {
  return (given, refuse) => {
    if (given === undefined && 'default' in bounds) return bounds.default as Default
    const levels = given as Partial<Record<string, unknown>> | null
    if (
      typeof given === 'object' &&
      levels !== null &&
      logLevels.every((level) => typeof levels[level] === 'function')
    ) {
      return given as Logger
    }
    return refuse(`must have the functions ${logLevels.join(', ')}, as a pino logger has.`)
  }
}

/** Anything; for options that are checked where they are used. */
export function anything<Value>(): OptionCheck<Value> {
  return (given) => given as Value
}
