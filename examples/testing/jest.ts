import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { assertEnqueued, drain, inRolledBackTransaction, perform, startTestClock } from '@pg-tasks/client/testing'
import type { Pool } from 'pg'
import { openPool } from './open-pool.js'
import { SendWelcome, signUp } from './send-welcome.js'

/** All but Date: the driver needs them. */
const TIMERS = [
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
  'setTimeout',
  'clearTimeout',
] as const

let pool: Pool
beforeAll(async () => {
  pool = await openPool()
})
afterAll(() => pool.end())
afterEach(() => {
  jest.useRealTimers()
})

describe('signing up', () => {
  it('welcomes the user a minute later', () =>
    inRolledBackTransaction(pool, async (tx) => {
      jest.useFakeTimers({ doNotFake: [...TIMERS] })
      const send = jest.fn(async (_email: string) => {})
      const welcome = new SendWelcome(tx, send)
      await signUp(tx, welcome, 'ada@example.com')
      await assertEnqueued(tx, welcome, { email: 'ada@example.com' }, { count: 1 })
      expect(await drain(tx, welcome)).toEqual([])

      const clock = await startTestClock(tx, { moveTimers: (_byMs, now) => jest.setSystemTime(now) })
      await clock.advance(60_000)
      expect(await drain(tx, welcome)).toMatchObject([{ table: 'send_welcome', attempt: 1, state: 'finished' }])
      expect(send).toHaveBeenCalledWith('ada@example.com')
      expect(Date.now()).toBeGreaterThan(performance.timeOrigin + performance.now() + 50_000)
    }))

  it('refuses what is no address', async () => {
    const welcome = new SendWelcome(pool, async () => {})
    await expect(perform(welcome, { email: 'nonsense' })).rejects.toThrow('no address')
  })
})
