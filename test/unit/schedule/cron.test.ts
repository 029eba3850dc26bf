import { describe, expect, it } from 'vitest'
import { nextOccurrence, parseCron } from '../../../packages/client/src/schedule/cron.js'
import { CALENDAR, CLOCK_CHANGES } from './cron-table.js'
import { nextOccurrences, previousOccurrences } from './occurrence-list.js'

describe.each([
  ['clock changes', CLOCK_CHANGES],
  ['calendar', CALENDAR],
])('cron, %s', (_, cases) => {
  it.each(cases)('$title: $cron in $timezone', ({ cron, timezone, after, expected }) => {
    expect(nextOccurrences(cron, timezone, after, expected.length)).toEqual(expected)
  })

  it.each(cases)('walks back the same way: $cron in $timezone', ({ cron, timezone, expected }) => {
    const afterLast = nextOccurrences(cron, timezone, expected.at(-1) ?? '', 1)[0] ?? ''
    expect(previousOccurrences(cron, timezone, afterLast, expected.length)).toEqual(expected)
  })
})

describe('cron', () => {
  it('gives one occurrence as a Date', () => {
    expect(nextOccurrence('0 12 * * *', 'UTC', new Date('2027-01-01T12:00Z'))).toEqual(new Date('2027-01-02T12:00Z'))
  })

  it('finds an occurrence earlier in the same second when it walks back', () => {
    const { previous } = parseCron('0 12 * * *', 'Europe/Berlin')
    expect(previous(new Date('2027-01-01T11:00:00.001Z'))).toEqual(new Date('2027-01-01T11:00Z'))
    expect(previous(new Date('2027-01-01T11:00:00.000Z'))).toEqual(new Date('2026-12-31T11:00Z'))
  })

  it('finds the first pass of a repeated hour from the second when it walks back', () => {
    const { previous } = parseCron('50 1 * * *', 'America/New_York')
    expect(previous(new Date('2027-11-07T06:10Z'))).toEqual(new Date('2027-11-07T05:50Z'))
  })

  it('ends in the year 3000', () => {
    expect(parseCron('0 0 1 1 *', 'UTC').next(new Date('2999-06-01T00:00Z'))).toBeNull()
  })

  it('counts what lies strictly between two instants, up to a limit', () => {
    const { countBetween } = parseCron('0 * * * *', 'UTC')
    const between = (after: string, before: string, limit: number) =>
      countBetween(new Date(after), new Date(before), limit)
    expect(between('2027-01-01T00:00Z', '2027-01-01T05:00Z', 10)).toEqual({ count: 4, exact: true })
    expect(between('2027-01-01T00:00Z', '2027-01-01T05:00Z', 4)).toEqual({ count: 4, exact: true })
    expect(between('2027-01-01T00:00Z', '2027-01-01T05:00Z', 3)).toEqual({ count: 3, exact: false })
    expect(between('2027-01-01T00:00Z', '2027-01-01T00:30Z', 0)).toEqual({ count: 0, exact: true })
  })
})
