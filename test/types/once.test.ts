import type { Stored, TaskContext } from '@pg-tasks/client'
import type { Pool } from 'pg'
import { expectTypeOf, it } from 'vitest'

declare const context: TaskContext
declare const pool: Pool

interface Letter {
  readonly id: string
  readonly at: Date
  readonly pages: ReadonlyArray<{ readonly number: number; readonly size?: number }>
  print(): void
}

it('once gives the value back as JSON brings it', () => {
  const plain = () => context.once('send', async () => ({ letter: 7, to: ['a'] }))
  expectTypeOf(plain).returns.resolves.toEqualTypeOf<{ letter: number; to: string[] }>()

  const nothing = () => context.once('send', async () => {})
  expectTypeOf(nothing).returns.resolves.toEqualTypeOf<void>()

  const letter = () =>
    context.once(pool, 'send', async ({ idempotencyKey }) => ({}) as Letter & { key: typeof idempotencyKey })
  expectTypeOf(letter).returns.resolves.toMatchTypeOf<{
    readonly id: string
    readonly at: string
    readonly pages: ReadonlyArray<{ readonly number: number; readonly size?: number }>
    readonly key: string
  }>()
  expectTypeOf<Stored<Letter>>().not.toHaveProperty('print')
})

it('Stored leaves alone what JSON leaves alone, and says what it takes', () => {
  expectTypeOf<Stored<string | null | undefined>>().toEqualTypeOf<string | null | undefined>()
  expectTypeOf<Stored<Date[]>>().toEqualTypeOf<string[]>()
  expectTypeOf<Stored<[number, Date]>>().toEqualTypeOf<[number, string]>()
  expectTypeOf<Stored<bigint>>().toEqualTypeOf<undefined>()
  expectTypeOf<Stored<unknown>>().toEqualTypeOf<unknown>()
  // biome-ignore lint/suspicious/noExplicitAny: what is not known stays so
  expectTypeOf<Stored<any>>().toEqualTypeOf<any>()
})
