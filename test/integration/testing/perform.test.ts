import { type Claimed, Task, type TaskContext } from '@pg-tasks/client'
import { perform } from '@pg-tasks/client/testing'
import { describe, expect, expectTypeOf, it } from 'vitest'

interface Invoice {
  order_id: string
  email: string | null
}

class SendInvoice extends Task<Invoice> {
  override async run({ order_id, email, priority }: Claimed<Invoice>, { attempt, signal, once }: TaskContext) {
    signal.throwIfAborted()
    if (email === null) throw new Error('no address')
    const sent = await once('send', async ({ idempotencyKey }) => ({ to: email, idempotencyKey, at: new Date(0) }))
    return { order_id, priority, attempt, sent }
  }
}

const sendInvoice = new SendInvoice()

describe('perform', () => {
  it('gives the handler a whole row and a context, and returns what it returns', async () => {
    expect(await perform(sendInvoice, { order_id: '42', email: 'a@example.com' }, { attempt: 3 })).toEqual({
      order_id: '42',
      priority: 1,
      attempt: 3,
      sent: { to: 'a@example.com', idempotencyKey: expect.any(String), at: '1970-01-01T00:00:00.000Z' },
    })
  })

  it('throws what the handler throws', async () => {
    await expect(perform(sendInvoice, { order_id: '42', email: null })).rejects.toThrow('no address')
    const signal = AbortSignal.abort(new Error('stopped'))
    await expect(perform(sendInvoice, { order_id: '1', email: 'a' }, { signal })).rejects.toThrow('stopped')
  })

  it('passes by the steps that an earlier attempt has done', async () => {
    const steps = new Map<string, unknown>()
    const first = await perform(sendInvoice, { order_id: '42', email: 'first@example.com' }, { steps })
    expect(await perform(sendInvoice, { order_id: '42', email: 'second@example.com' }, { steps })).toEqual(first)
    expect([...steps.keys()]).toEqual(['send'])
  })

  it('refuses options that it does not know', async () => {
    const row = { order_id: '1', email: 'a' }
    await expect(perform(sendInvoice, row, { atempt: 2 } as never)).rejects.toThrow(/Did you mean "attempt"/)
    await expect(perform(sendInvoice, row, { steps: {} as never })).rejects.toThrow(/steps.*must be a Map/)
  })

  it('asks for the columns that the class needs', () => {
    expectTypeOf(perform<Invoice>).toBeCallableWith(sendInvoice, { order_id: '1', priority: 2, last_error: 'x' })
    // @ts-expect-error: a column that is missing
    const missing = () => perform(sendInvoice, { email: 'a' })
    // @ts-expect-error: a column that isn't there
    const unknown = () => perform(sendInvoice, { order_id: '1', email: 'a', nonsense: 1 })
    expect([missing, unknown]).toHaveLength(2)
  })
})
