import { describe, expect, it } from 'vitest'
import { boundedCadence } from '../../../packages/client/src/schedule/cadence.js'
import { everyCadence } from '../../../packages/client/src/schedule/every.js'
import { HOUR } from './schedule-state.js'

const at = (time: string) => new Date(`2027-01-01T${time}Z`)

describe('a bounded cadence', () => {
  const hourly = everyCadence(HOUR, at('00:00'))
  const fromNineToNoon = boundedCadence(hourly, at('09:00'), at('12:00'))

  it('begins with an occurrence at startsAt', () => {
    expect(fromNineToNoon.next(at('05:30'))).toEqual(at('09:00'))
    expect(fromNineToNoon.previous(at('09:30'))).toEqual(at('09:00'))
    expect(fromNineToNoon.previous(at('09:00'))).toBeNull()
  })

  it('ends with an occurrence at endsAt', () => {
    expect(fromNineToNoon.previous(at('15:30'))).toEqual(at('12:00'))
    expect(fromNineToNoon.next(at('11:30'))).toEqual(at('12:00'))
    expect(fromNineToNoon.next(at('12:00'))).toBeNull()
  })

  it('counts within its bounds only', () => {
    expect(fromNineToNoon.countBetween(at('00:00'), at('23:00'), 100)).toEqual({ count: 4, exact: true })
    expect(fromNineToNoon.countBetween(at('09:00'), at('12:00'), 100)).toEqual({ count: 2, exact: true })
  })

  it('has no bounds where none are given', () => {
    const unbounded = boundedCadence(hourly, null, null)
    expect(unbounded.next(at('12:00'))).toEqual(at('13:00'))
    expect(unbounded.previous(at('09:00'))).toEqual(at('08:00'))
  })
})
