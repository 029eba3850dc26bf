import { describe, expect, it } from 'vitest'
import { InvalidOptionError } from '../../../packages/client/src/errors/invalid-option-error.js'
import { noopLogger } from '../../../packages/client/src/logger/noop-logger.js'
import { checkOptions } from '../../../packages/client/src/options/check-options.js'
import {
  callback,
  durationMs,
  flag,
  integer,
  loggerOption,
  oneOf,
  text,
} from '../../../packages/client/src/options/checks.js'

const check = (given: unknown) =>
  checkOptions<Record<string, unknown>>('Worker', given, {
    concurrency: integer({ default: 1, max: 1000 }),
    pollIntervalMs: durationMs({ default: 30_000 }),
    handleSignals: flag({ default: true }),
    schema: text({ default: 'tasks' }),
    catchUp: oneOf(['all', 'latest'], { default: 'latest' }),
    onWake: callback({ default: undefined }),
    logger: loggerOption({ default: noopLogger }),
  })

function refusalOf(given: unknown): InvalidOptionError {
  try {
    check(given)
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidOptionError)
    return error as InvalidOptionError
  }
  throw new Error(`accepted ${JSON.stringify(given)}`)
}

describe('checkOptions', () => {
  it('fills in the defaults and freezes the result', () => {
    const options = check(undefined)
    expect(options).toMatchObject({ concurrency: 1, pollIntervalMs: 30_000, handleSignals: true, schema: 'tasks' })
    expect(Object.isFrozen(options)).toBe(true)
    expect(check({ concurrency: undefined })).toEqual(options)
  })

  it('takes what is within bounds', () => {
    const given = { concurrency: 4, pollIntervalMs: 0.5 + 1, handleSignals: false, schema: 'Ä"', catchUp: 'all' }
    expect(check(given)).toMatchObject(given)
  })

  it.each([Number.NaN, 0, -1, Number.POSITIVE_INFINITY, '5', 2 ** 31, 2 ** 53, 1.5, null, true, [1], {}, 5n])(
    'refuses %s for a whole number, and names the option',
    (value) => {
      const error = refusalOf({ concurrency: value })
      expect(error).toMatchObject({ code: 'INVALID_OPTION', owner: 'Worker', option: 'concurrency' })
      expect(error.message).toMatch(/^Worker: option "concurrency" must be a whole number from 1 to 1000, not /)
    },
  )

  it.each([Number.NaN, 0, -1, Number.POSITIVE_INFINITY, '5', 2 ** 31, null, new Date()])(
    'refuses %s for a duration, and names the option',
    (value) => {
      expect(refusalOf({ pollIntervalMs: value })).toMatchObject({ option: 'pollIntervalMs' })
    },
  )

  it.each([
    ['handleSignals', 'yes'],
    ['handleSignals', 1],
    ['schema', ''],
    ['schema', 7],
    ['schema', 'a\u0000b'],
    ['catchUp', 'everything'],
    ['onWake', 'f'],
    ['logger', {}],
    ['logger', { debug() {}, info() {}, warn() {} }],
    ['logger', null],
  ])('refuses %s: %s', (option, value) => {
    expect(refusalOf({ [option]: value })).toMatchObject({ option })
  })

  it.each([
    ['concurency', 'concurrency'],
    ['pollInterval', 'pollIntervalMs'],
    ['handlesignals', 'handleSignals'],
  ])('suggests what was meant by %s', (written, meant) => {
    const error = refusalOf({ [written]: 1 })
    expect(error.option).toBe(written)
    expect(error.message).toContain(`Did you mean "${meant}"?`)
  })

  it('lists what there is where nothing is near', () => {
    expect(refusalOf({ xyz: 1 }).message).toContain('There are: concurrency, pollIntervalMs')
    expect(refusalOf({ toString: 1 }).message).toContain('is unknown')
  })

  it.each([null, 'x', 5, [], () => {}])('refuses %s for the options themselves', (given) => {
    expect(refusalOf(given)).toMatchObject({ option: 'options' })
  })

  it('quotes no text that was given: it may be a secret', () => {
    expect(refusalOf({ concurrency: 'hunter2' }).message).not.toContain('hunter2')
  })

  it('refuses a required option that is missing', () => {
    const required = () => checkOptions<{ concurrency: number }>('Worker', {}, { concurrency: integer() })
    expect(required).toThrow('Worker: option "concurrency" must be a whole number from 1 to 2147483647, not undefined.')
  })
})
