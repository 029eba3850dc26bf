import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { onStopSignals } from '../../../packages/client/src/worker/stop-signals.js'

let stop: () => void
let signals: string[]
const others = process.listenerCount('SIGTERM')

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  signals = []
  stop = onStopSignals((signal) => signals.push(signal))
})
afterEach(() => {
  stop()
  vi.useRealTimers()
})

describe('onStopSignals', () => {
  it('takes what tsx or npm passes on for the same signal, and not for the second that ends the process', () => {
    process.emit('SIGINT')
    vi.advanceTimersByTime(400)
    // Somebody listens, so the echo ends nothing.
    expect(process.listenerCount('SIGTERM')).toBe(others + 1)
    process.emit('SIGTERM')
    expect(signals).toEqual(['SIGINT'])
  })

  it('leaves a later signal to whoever else listens, or to Node, which ends the process', () => {
    process.emit('SIGTERM')
    vi.advanceTimersByTime(500)
    expect(process.listenerCount('SIGTERM')).toBe(others)
  })

  it('leaves no timer and no listener once it is told to stop', () => {
    process.emit('SIGTERM')
    stop()
    expect(vi.getTimerCount()).toBe(0)
    expect(process.listenerCount('SIGTERM')).toBe(others)
  })
})
