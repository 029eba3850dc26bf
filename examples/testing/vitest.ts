import { assertEnqueued, drain, inRolledBackTransaction, perform, startTestClock } from '@pg-tasks/client/testing'
import type { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { openPool } from './open-pool.js'
import { SendWelcome, signUp } from './send-welcome.js'

let pool: Pool
beforeAll(async () => {
  pool = await openPool()
})
afterAll(() => pool.end())
afterEach(() => vi.useRealTimers())

describe('signing up', () => {
  it('welcomes the user a minute later', () =>
    inRolledBackTransaction(pool, async (tx) => {
      // Only Date: the driver needs its timers.
      vi.useFakeTimers({ toFake: ['Date'] })
      const send = vi.fn(async () => {})
      const welcome = new SendWelcome(tx, send)
      await signUp(tx, welcome, 'ada@example.com')
      await assertEnqueued(tx, welcome, { email: 'ada@example.com' }, { count: 1 })
      expect(await drain(tx, welcome)).toEqual([])

      const clock = await startTestClock(tx, { moveTimers: (_byMs, now) => vi.setSystemTime(now) })
      await clock.advance(60_000)
      expect(await drain(tx, welcome)).toMatchObject([{ table: 'send_welcome', attempt: 1, state: 'finished' }])
      expect(send).toHaveBeenCalledExactlyOnceWith('ada@example.com')
      expect(Date.now()).toBeGreaterThan(performance.timeOrigin + performance.now() + 50_000)
    }))

  it('refuses what is no address', async () => {
    const welcome = new SendWelcome(pool, async () => {})
    await expect(perform(welcome, { email: 'nonsense' })).rejects.toThrow('no address')
  })
})
