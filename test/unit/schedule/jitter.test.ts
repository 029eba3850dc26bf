import { describe, expect, it } from 'vitest'
import { jitter } from '../../../packages/client/src/schedule/jitter.js'

const NOON = new Date('2027-01-01T12:00Z')

function delaysOf(jitterMs: number, keys = 2000): number[] {
  return Array.from({ length: keys }, (_, index) => jitter(`report-${index}`, NOON, jitterMs))
}

describe('jitter', () => {
  it('is the same for the same occurrence, in any release', () => {
    // A changed value would delay an occurrence that is planned again after an upgrade by another time.
    expect(jitter('report', NOON, 60_000)).toBe(1864)
  })

  it('differs between schedules and between occurrences', () => {
    expect(new Set(delaysOf(60_000)).size).toBeGreaterThan(1900)
    expect(jitter('report', new Date('2027-01-01T13:00Z'), 60_000)).not.toBe(jitter('report', NOON, 60_000))
  })

  it('is whole milliseconds below the limit, spread evenly', () => {
    const delays = delaysOf(1000)
    expect(delays.every((delay) => Number.isInteger(delay) && delay >= 0 && delay < 1000)).toBe(true)
    const quarters = [0, 0, 0, 0]
    for (const delay of delays) quarters[Math.floor(delay / 250)] = (quarters[Math.floor(delay / 250)] ?? 0) + 1
    expect(quarters.every((count) => count > 400 && count < 600)).toBe(true)
  })

  it('is nothing without a limit', () => {
    expect(delaysOf(0, 10)).toEqual(Array(10).fill(0))
    expect(delaysOf(1, 10)).toEqual(Array(10).fill(0))
  })
})
