import { describe, expect, it } from 'vitest'
import { InvalidOptionError } from '../../../packages/client/src/errors/invalid-option-error.js'
import { checkCron, parseCron } from '../../../packages/client/src/schedule/cron.js'

function refusal(cron: unknown, timezone: unknown = 'UTC'): InvalidOptionError {
  try {
    checkCron(cron, timezone)
  } catch (error) {
    if (error instanceof InvalidOptionError) return error
    throw error
  }
  throw new Error(`${String(cron)} in ${String(timezone)} was accepted`)
}

describe('a cron expression', () => {
  it.each([
    ['60 * * * *', 'minute field is "60"'],
    ['*/0 * * * *', 'minute field is "*/0"'],
    ['*/70 * * * *', 'minute field is "*/70"'],
    ['5/15 * * * *', 'minute field is "5/15"'],
    ['5-1 * * * *', 'minute field is "5-1"'],
    ['x * * * *', 'minute field is "x"'],
    ['1, * * * *', 'minute field is "1,"'],
    ['* 24 * * *', 'hour field is "24"'],
    ['* * 0 * *', 'day-of-month field is "0"'],
    ['* * 32 * *', 'day-of-month field is "32"'],
    ['* * L-3 * *', 'day-of-month field is "L-3"'],
    ['* * * 13 *', 'month field is "13"'],
    ['* * * 0 *', 'month field is "0"'],
    ['* * * * 8', 'day-of-week field is "8"'],
    ['* * * * 1#6', 'day-of-week field is "1#6"'],
    ['60 * * * * *', 'second field is "60"'],
    ['', 'has 0 fields instead of 5 or 6'],
    ['  ', 'has 0 fields instead of 5 or 6'],
    ['* * * *', 'has 4 fields instead of 5 or 6'],
    ['*/0', 'has 1 fields instead of 5 or 6'],
    ['5-1', 'has 1 fields instead of 5 or 6'],
    ['0 0 12 1 1 * 2027', 'years are not supported: use startsAt and endsAt'],
    ['@reboot', '@reboot is not supported'],
    ['@every 5m', 'use everyMs'],
    ['@fortnightly', '@fortnightly is not supported'],
    ['2027-05-05T10:00:00', 'plannedTo'],
    ['2027-05-05 10:00:00', 'plannedTo'],
    ['* * * * 1:2', 'plannedTo'],
    ['CRON_TZ=Europe/Berlin 0 0 * * *', 'option "timezone"'],
    ['* * 31 2 *', 'never fires'],
    ['0 0 30 2 *', 'never fires'],
    ['0 0 31 4,6,9,11 *', 'never fires'],
    ['0 0 31W 2 *', 'never fires'],
  ])('is refused: "%s"', (cron, reason) => {
    const error = refusal(cron)
    expect(error).toMatchObject({ code: 'INVALID_OPTION', owner: 'Schedule', option: 'cron' })
    expect(error.message).toContain(`is ${JSON.stringify(cron)}: `)
    expect(error.message).toContain(reason)
  })

  it.each([null, undefined, 5, new Date(0), {}])('is refused when it is no string: %s', (cron) => {
    expect(refusal(cron)).toMatchObject({ option: 'cron' })
  })

  it('brings along what the parser said', () => {
    expect(refusal('60 * * * *').cause).toBeInstanceOf(Error)
  })

  it.each([
    '*/5 * * * *',
    ' 0\t0  * * MON-FRI ',
    '0 0 29 2 *',
    '0 0 29 2 +1',
    '@daily',
    '0 0 * JAN-MAR SUN',
    '? ? * * *',
  ])('is accepted: "%s"', (cron) => {
    expect(() => checkCron(cron, 'Europe/Berlin')).not.toThrow()
  })
})

describe('a time zone', () => {
  it.each([
    ...['UTC+3', '+03:00', '-0500', 'GMT+3', 'EST', 'CST', 'CET', 'GMT', 'Japan', 'Z', '', ' ', 'Nowhere/X'],
    ...['Europe/Berlin ', 'Etc/Unknown', null, undefined, 180],
  ])('is refused: %s', (timezone) => {
    expect(refusal('* * * * *', timezone ?? null)).toMatchObject({
      code: 'INVALID_OPTION',
      owner: 'Schedule',
      option: 'timezone',
    })
  })

  it.each(['UTC', 'Etc/UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Asia/Kolkata', 'America/Nuuk'])(
    'is accepted: %s',
    (timezone) => {
      expect(() => checkCron('* * * * *', timezone)).not.toThrow()
    },
  )

  it('is checked before anything is computed, for a row written by hand', () => {
    expect(() => parseCron('* * * * *', 'Nowhere/X')).toThrow(InvalidOptionError)
  })
})
