import { describe, expect, it } from 'vitest'
import { Backoff, backoffDelay } from '../../../packages/client/src/backoff/backoff.js'

const OPTIONS = { baseMs: 100, maxMs: 5_000 }

describe('backoffDelay', () => {
  it('doubles up to the longest wait', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8, 60].map((failures) => backoffDelay(failures, OPTIONS, 0.5))
    expect(delays).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000])
  })

  it.each([0, 60, 1024, 2000, 2 ** 31, Number.MAX_SAFE_INTEGER])('is finite after %i failures', (failures) => {
    const delay = backoffDelay(failures, OPTIONS, 1)
    expect(delay).toBeGreaterThan(0)
    expect(delay).toBeLessThanOrEqual(5_000)
  })

  it('is shorter or longer by a fifth at random, but never longer than the longest', () => {
    expect(backoffDelay(1, OPTIONS, 0)).toBe(80)
    expect(backoffDelay(1, OPTIONS, 1)).toBe(120)
    expect(backoffDelay(9, OPTIONS, 0)).toBe(4000)
    expect(backoffDelay(9, OPTIONS, 1)).toBe(5000)
    expect(backoffDelay(1, { ...OPTIONS, jitter: 0 }, 1)).toBe(100)
  })
})

describe('Backoff', () => {
  it('counts failures until a success', () => {
    const backoff = new Backoff({ ...OPTIONS, jitter: 0 })
    expect([backoff.next(), backoff.next(), backoff.next()]).toEqual([100, 200, 400])
    expect(backoff.failures).toBe(3)
    backoff.reset()
    expect(backoff.next()).toBe(100)
  })
})
