import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { sleep } from '../../../packages/client/src/timers/sleep.js'
import { startTimer } from '../../../packages/client/src/timers/start-timer.js'

const DAY_MS = 24 * 60 * 60 * 1000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})

afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

describe('startTimer', () => {
  it.each([2, 1000, 25 * DAY_MS, 1000 * DAY_MS])('calls once, after %i ms', (delayMs) => {
    let calls = 0
    startTimer(delayMs, () => {
      calls += 1
    })
    vi.advanceTimersByTime(delayMs - 2)
    expect(calls).toBe(0)
    vi.advanceTimersByTime(DAY_MS)
    expect(calls).toBe(1)
  })

  it('never calls after an infinite time, and a negative one is none', () => {
    let calls = 0
    const cancel = startTimer(Number.POSITIVE_INFINITY, () => {
      calls += 1
    })
    vi.advanceTimersByTime(1000 * DAY_MS)
    expect(calls).toBe(0)
    cancel()
    startTimer(-5, () => {
      calls += 1
    })
    vi.advanceTimersByTime(1)
    expect(calls).toBe(1)
  })

  it('can be canceled, also after it was armed again', () => {
    const cancel = startTimer(100 * DAY_MS, () => expect.unreachable())
    vi.advanceTimersByTime(50 * DAY_MS)
    cancel()
    vi.advanceTimersByTime(100 * DAY_MS)
  })
})

describe('sleep', () => {
  it('ends when the time is over, or when the signal is aborted', async () => {
    const controller = new AbortController()
    const [first, second] = [sleep(1000, { signal: controller.signal }), sleep(2000, { signal: controller.signal })]
    vi.advanceTimersByTime(1000)
    expect(await first).toBe('elapsed')
    controller.abort()
    expect(await second).toBe('aborted')
    expect(await sleep(1000, { signal: controller.signal })).toBe('aborted')
  })

  it('leaves no listener on the signal, however it ends', async () => {
    const { signal } = new AbortController()
    for (let round = 0; round < 100; round++) {
      const sleeping = sleep(10, { signal })
      expect(getEventListeners(signal, 'abort')).toHaveLength(1)
      vi.advanceTimersByTime(10)
      await sleeping
    }
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })
})

describe('an unref timer', () => {
  it('does not keep the process', () => {
    vi.useRealTimers()
    const before = process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length
    const cancel = startTimer(60_000, () => {}, { unref: true })
    expect(process.getActiveResourcesInfo().filter((type) => type === 'Timeout')).toHaveLength(before)
    cancel()
    vi.useFakeTimers()
  })
})
