import { describe, expect, it } from 'vitest'
import { checkEvery, everyCadence } from '../../../packages/client/src/schedule/every.js'
import { shortIso } from './occurrence-list.js'

const HOUR = 3_600_000
const at = (iso: string) => new Date(iso)

describe('an interval', () => {
  it('is due on the grid of its anchor, strictly later than asked', () => {
    const { next } = everyCadence(HOUR, at('2027-01-01T09:30Z'))
    expect(next(at('2027-01-01T10:07Z'))).toEqual(at('2027-01-01T10:30Z'))
    expect(next(at('2027-01-01T10:30Z'))).toEqual(at('2027-01-01T11:30Z'))
    expect(next(at('2027-01-01T10:29:59.999Z'))).toEqual(at('2027-01-01T10:30Z'))
  })

  it('is not moved by an occurrence that is handled 40 seconds late', () => {
    const { next } = everyCadence(60_000, at('2027-01-01T00:00:05Z'))
    expect(next(at('2027-01-01T10:00:45Z'))).toEqual(at('2027-01-01T10:01:05Z'))
  })

  it('has a grid before its anchor too', () => {
    const { next, previous } = everyCadence(HOUR, at('2027-01-01T09:30Z'))
    expect(next(at('2027-01-01T00:00Z'))).toEqual(at('2027-01-01T00:30Z'))
    expect(previous(at('2027-01-01T00:30Z'))).toEqual(at('2026-12-31T23:30Z'))
  })

  it('keeps the milliseconds of its anchor', () => {
    const { next, previous } = everyCadence(1000, at('2027-01-01T00:00:00.250Z'))
    expect(next(at('2027-01-01T00:00:07.249Z'))).toEqual(at('2027-01-01T00:00:07.250Z'))
    expect(next(at('2027-01-01T00:00:07.250Z'))).toEqual(at('2027-01-01T00:00:08.250Z'))
    expect(previous(at('2027-01-01T00:00:07.250Z'))).toEqual(at('2027-01-01T00:00:06.250Z'))
    expect(previous(at('2027-01-01T00:00:07.251Z'))).toEqual(at('2027-01-01T00:00:07.250Z'))
  })

  it('counts elapsed time over the clock changes of New York', () => {
    const { next } = everyCadence(2 * HOUR, at('2027-11-06T12:00Z'))
    const occurrences: Date[] = []
    for (let date = at('2027-11-07T03:00Z'); occurrences.length < 4; occurrences.push(date)) date = next(date) as Date
    expect(occurrences.map(shortIso)).toEqual([
      ...['2027-11-07T04:00Z', '2027-11-07T06:00Z', '2027-11-07T08:00Z', '2027-11-07T10:00Z'],
    ])
  })

  it('counts the occurrences of a year exactly and at once', () => {
    const { countBetween } = everyCadence(1000, at('2020-01-01T00:00Z'))
    const year = countBetween(at('2026-01-01T00:00Z'), at('2027-01-01T00:00Z'), 1)
    expect(year).toEqual({ count: 365 * 86_400 - 1, exact: true })
    expect(countBetween(at('2026-01-01T00:00Z'), at('2026-01-01T00:00:01Z'), 9)).toEqual({ count: 0, exact: true })
    expect(countBetween(at('2026-01-01T00:00Z'), at('2026-01-01T00:00Z'), 9)).toEqual({ count: 0, exact: true })
  })

  it.each([
    0,
    -1000,
    500,
    999,
    1500,
    1000.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    3e15,
    '1000',
    null,
    undefined,
    1000n,
  ])('is refused: %s', (everyMs) => {
    expect(() => checkEvery(everyMs)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', owner: 'Schedule', option: 'everyMs' }),
    )
  })

  it.each([1000, 60_000, 86_400_000, 36_525 * 86_400_000])('is accepted: %s', (everyMs) => {
    expect(() => checkEvery(everyMs)).not.toThrow()
  })
})
