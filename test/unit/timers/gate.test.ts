import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Gate } from '../../../packages/client/src/timers/gate.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})

afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

describe('Gate', () => {
  it('ends a wait at once when it is woken', async () => {
    const gate = new Gate()
    const waiting = gate.wait(60_000)
    gate.wake()
    expect(await waiting).toBe('woken')
    expect(gate.woken).toBe(false)
  })

  it('remembers a wake that came while nobody waited, once', async () => {
    const gate = new Gate()
    gate.wake()
    gate.wake()
    expect(await gate.wait(60_000)).toBe('woken')
    const waiting = gate.wait(1000)
    vi.advanceTimersByTime(1000)
    expect(await waiting).toBe('elapsed')
  })

  it('loses no wake that comes between the end of a wait and the next', async () => {
    const gate = new Gate()
    let heard = 0
    for (let round = 0; round < 50; round++) {
      const waiting = gate.wait(10)
      vi.advanceTimersByTime(10)
      // The timer has ended the wait, but who waits hasn't noticed yet.
      gate.wake()
      if ((await waiting) === 'woken') heard += 1
      else if (gate.consume()) heard += 1
    }
    expect(heard).toBe(50)
  })

  it('forgets a wake that is consumed otherwise', async () => {
    const gate = new Gate()
    gate.wake()
    expect(gate.consume()).toBe(true)
    expect(gate.consume()).toBe(false)
    const waiting = gate.wait(1000)
    vi.advanceTimersByTime(1000)
    expect(await waiting).toBe('elapsed')
  })

  it('ends when the signal is aborted, keeps the wake for later, and leaves no listener', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const gate = new Gate()
    for (let round = 0; round < 20; round++) {
      const waiting = gate.wait(60_000, { signal })
      gate.wake()
      await waiting
    }
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    const waiting = gate.wait(60_000, { signal })
    controller.abort()
    expect(await waiting).toBe('aborted')
    gate.wake()
    expect(await gate.wait(60_000, { signal })).toBe('aborted')
    expect(gate.woken).toBe(true)
  })

  it('refuses a second waiter', async () => {
    const gate = new Gate()
    const waiting = gate.wait(1000)
    await expect(gate.wait(1000)).rejects.toThrow('one waiter')
    gate.wake()
    expect(await waiting).toBe('woken')
  })
})
