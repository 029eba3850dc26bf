import { describe, expect, it } from 'vitest'
import { firstOccurrence, occurrencesBetween, preview } from '../../../packages/client/src/schedule/occurrences.js'
import { resolveScheduleTiming } from '../../../packages/client/src/schedule/timing.js'
import { shortIso } from './occurrence-list.js'
import { HOUR } from './schedule-state.js'

const at = (iso: string) => new Date(iso)

describe('the first occurrence', () => {
  const minutely = resolveScheduleTiming({ cron: '* * * * *' })

  it('is strictly later than the database clock', () => {
    expect(firstOccurrence(minutely, at('2027-01-01T19:07:30Z'))).toEqual(at('2027-01-01T19:08Z'))
    expect(firstOccurrence(minutely, at('2027-01-01T19:08Z'))).toEqual(at('2027-01-01T19:09Z'))
  })

  it('of an interval does not depend on when the schedule is stored again', () => {
    const hourly = resolveScheduleTiming({ everyMs: HOUR, anchor: at('2027-01-01T09:30Z') })
    expect(firstOccurrence(hourly, at('2027-01-01T10:07Z'))).toEqual(at('2027-01-01T10:30Z'))
    expect(firstOccurrence(hourly, at('2027-01-01T10:08Z'))).toEqual(at('2027-01-01T10:30Z'))
  })

  it('may be startsAt itself', () => {
    const timing = { ...minutely, startsAt: at('2027-02-01T00:00Z') }
    expect(firstOccurrence(timing, at('2027-01-01T00:00Z'))).toEqual(at('2027-02-01T00:00Z'))
    expect(firstOccurrence(timing, at('2027-02-01T00:00Z'))).toEqual(at('2027-02-01T00:01Z'))
  })

  it('may be endsAt itself, and nothing is later', () => {
    const timing = { ...minutely, endsAt: at('2027-01-01T12:00Z') }
    expect(firstOccurrence(timing, at('2027-01-01T11:59:59Z'))).toEqual(at('2027-01-01T12:00Z'))
    expect(firstOccurrence(timing, at('2027-01-01T12:00Z'))).toBeNull()
  })
})

describe('a preview', () => {
  it('lists the next occurrences in the zone of the schedule', () => {
    const timing = resolveScheduleTiming({ cron: '30 2 * * *', timezone: 'America/New_York' })
    expect(preview(timing, 3, at('2027-03-13T00:00Z')).map(shortIso)).toEqual([
      ...['2027-03-13T07:30Z', '2027-03-14T07:00Z', '2027-03-15T06:30Z'],
    ])
  })

  it('ends with the schedule', () => {
    const timing = resolveScheduleTiming({ cron: '0 * * * *', endsAt: at('2027-01-01T02:00Z') })
    expect(preview(timing, 10, at('2027-01-01T00:00Z')).map(shortIso)).toEqual([
      '2027-01-01T01:00Z',
      '2027-01-01T02:00Z',
    ])
  })

  it.each([0, -1, 1.5, 1001, Number.NaN])('is refused for n = %s', (n) => {
    const timing = resolveScheduleTiming({ cron: '0 * * * *' })
    expect(() => preview(timing, n, at('2027-01-01T00:00Z'))).toThrow(expect.objectContaining({ option: 'n' }))
  })
})

describe('the occurrences between two instants', () => {
  const halfHourly = resolveScheduleTiming({ cron: '*/30 * * * *' })

  it('include both ends', () => {
    const { occurrences, continueFrom } = occurrencesBetween(
      ...([halfHourly, at('2027-01-01T09:00Z'), at('2027-01-01T10:00Z'), 10] as const),
    )
    expect(occurrences.map(shortIso)).toEqual(['2027-01-01T09:00Z', '2027-01-01T09:30Z', '2027-01-01T10:00Z'])
    expect(continueFrom).toBeNull()
  })

  it('go on where the cap cut them off', () => {
    const to = at('2027-01-01T10:00Z')
    const first = occurrencesBetween(halfHourly, at('2027-01-01T09:00Z'), to, 2)
    expect(first.occurrences.map(shortIso)).toEqual(['2027-01-01T09:00Z', '2027-01-01T09:30Z'])
    expect(first.continueFrom).toEqual(to)

    const second = occurrencesBetween(halfHourly, first.continueFrom ?? to, to, 2)
    expect(second.occurrences.map(shortIso)).toEqual(['2027-01-01T10:00Z'])
    expect(second.continueFrom).toBeNull()
  })

  it('stay within startsAt and endsAt', () => {
    const timing = { ...halfHourly, startsAt: at('2027-01-01T09:30Z'), endsAt: at('2027-01-01T10:30Z') }
    const { occurrences } = occurrencesBetween(timing, at('2027-01-01T00:00Z'), at('2027-01-02T00:00Z'), 100)
    expect(occurrences.map(shortIso)).toEqual(['2027-01-01T09:30Z', '2027-01-01T10:00Z', '2027-01-01T10:30Z'])
  })

  it('are refused for an end before the beginning, and for no cap', () => {
    const [earlier, later] = [at('2027-01-01T09:00Z'), at('2027-01-01T10:00Z')]
    expect(() => occurrencesBetween(halfHourly, later, earlier, 10)).toThrow(expect.objectContaining({ option: 'to' }))
    expect(() => occurrencesBetween(halfHourly, earlier, later, 0)).toThrow(expect.objectContaining({ option: 'cap' }))
  })
})
