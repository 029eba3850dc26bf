import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { assertEnqueued, drain, inRolledBackTransaction, perform, startTestClock } from '@pg-tasks/client/testing'
import type { Pool } from 'pg'
import { openPool } from './open-pool.js'
import { SendWelcome, signUp } from './send-welcome.js'

let pool: Pool
before(async () => {
  pool = await openPool()
})
after(() => pool.end())

describe('signing up', () => {
  it('welcomes the user a minute later', () =>
    inRolledBackTransaction(pool, async (tx) => {
      const letters: string[] = []
      const welcome = new SendWelcome(tx, async (email) => {
        letters.push(email)
      })
      await signUp(tx, welcome, 'ada@example.com')
      await assertEnqueued(tx, welcome, { email: 'ada@example.com' }, { count: 1 })
      assert.deepEqual(await drain(tx, welcome), [])

      const clock = await startTestClock(tx)
      await clock.advance(60_000)
      const [run] = await drain(tx, welcome)
      assert.equal(run?.state, 'finished')
      assert.deepEqual(letters, ['ada@example.com'])
    }))

  it('refuses what is no address', async () => {
    const welcome = new SendWelcome(pool, async () => {})
    await assert.rejects(perform(welcome, { email: 'nonsense' }), /no address/)
  })
})
