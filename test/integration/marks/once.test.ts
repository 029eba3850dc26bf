import {
  InvalidArgumentError,
  inTransaction,
  type StepContext,
  type TaskContext,
  TaskInUseError,
  TaskNotRunningError,
} from '@pg-tasks/client'
import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely'
import { Pool } from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { createTaskType, insertTasks, readTask } from '../../support/task-type.js'
import { createDatabase } from '../../support/test-database.js'
import { waitFor, within } from '../../support/wait-for.js'
import { type Handler, Latch, type RecordedWorker, startWorker, taskOf } from '../worker/start-worker.js'
import { marksOf } from './steps-of.js'

const database = await createDatabase()
const { pool } = database
const connection = { connectionString: database.url }

let tables = 0

interface Running {
  readonly table: string
  readonly id: string
  readonly worker: RecordedWorker
}

/** Runs one task of a new type by the handler; waits until it is finished unless told otherwise. */
async function run(
  handler: Handler<object>,
  { until = 'finished' as 'finished' | 'started' | 'failed', timeout = '1 minute', maxRetries = 5 } = {},
): Promise<Running> {
  tables += 1
  const table = `once_${tables}`
  await createTaskType(pool, table, { timeout, maxRetries, backoffBase: '1 ms', backoffMax: '1 ms' })
  const worker = await startWorker(connection, [taskOf<object>(table, handler), 1])
  const [id] = (await insertTasks(pool, table)) as [string]
  await worker.seen(until, { timeoutMs: 20_000 })
  return { table, id, worker }
}

/** Throws in the first attempt, so that there is a second. */
function failFirst({ attempt }: TaskContext): void {
  if (attempt === 1) throw new Error('the first attempt fails')
}

it('does a step once though the task is run twice, and gives its value to both', async () => {
  const values: unknown[] = []
  const keys: string[] = []
  const { table, id } = await run(async (_, context) => {
    const { once } = context
    values.push(
      await once('send', async ({ idempotencyKey }: StepContext) => {
        keys.push(idempotencyKey)
        return { letter: 7 }
      }),
    )
    failFirst(context)
  })
  expect(keys).toHaveLength(1)
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
  expect(values).toEqual([{ letter: 7 }, { letter: 7 }])
  expect(await marksOf(pool, table, id)).toEqual(['send'])
})

it('does a step again that threw, with the same key', async () => {
  const keys: string[] = []
  const { table, id } = await run(async (_, context) => {
    await context.once('send', async ({ idempotencyKey }) => {
      keys.push(idempotencyKey)
      failFirst(context)
    })
  })
  expect(keys).toHaveLength(2)
  expect(new Set(keys).size).toBe(1)
  expect(await marksOf(pool, table, id)).toEqual(['send'])
})

const circle: Record<string, unknown> = {}
circle.circle = circle

const VALUES: ReadonlyArray<readonly [name: string, value: unknown, stored: unknown]> = [
  ['undefined', undefined, undefined],
  ['null', null, null],
  ['false', false, false],
  ['zero', 0, 0],
  ['an empty text', '', ''],
  ['a text', 'text', 'text'],
  ['an array with holes', [1, undefined, null], [1, null, null]],
  ['an object', { a: { b: [1.5, 'x'] }, c: undefined }, { a: { b: [1.5, 'x'] } }],
  ['a date', { at: new Date('2026-01-02T03:04:05.678Z') }, { at: '2026-01-02T03:04:05.678Z' }],
  ['NaN', Number.NaN, null],
  ['a large number', 1.7976931348623157e308, 1.7976931348623157e308],
  ['a small number', 5e-324, 5e-324],
  ['NUL', { text: 'a\u0000b' }, { text: 'a\ufffdb' }],
  ['backslashes before what looks like NUL', '\\u0000 \\\\u0000 \\\u0000', '\\u0000 \\\\u0000 \\\ufffd'],
  ['half a surrogate pair', '\ud83d and \ude00 and 😀', '\ufffd and \ufffd and 😀'],
  ['keys with NUL', { 'a\u0000': 1 }, { 'a\ufffd': 1 }],
  ['a bigint', { id: 1n }, undefined],
  ['a circle', circle, undefined],
  ['a function', () => 1, undefined],
  ['what throws when it is made JSON', { toJSON: () => thrower() }, undefined],
  ['a megabyte', 'x'.repeat(1_000_000), 'x'.repeat(1_000_000)],
]

// One task for all of them: a type and a worker each would take half a minute.
describe('a value', () => {
  const seen = new Map<string, unknown[]>(VALUES.map(([name]) => [name, []]))
  let calls = 0

  beforeAll(async () => {
    await run(async (_, context) => {
      for (const [name, value] of VALUES) {
        const work = async () => {
          calls += 1
          return value
        }
        seen.get(name)?.push(await context.once(name, work))
      }
      failFirst(context)
    })
  })

  it('is asked for once', () => {
    expect(calls).toBe(VALUES.length)
  })

  it.each(VALUES)('comes back in every attempt as it was stored: %s', (name, _, stored) => {
    expect(seen.get(name)).toEqual([stored, stored])
  })
})

function thrower(): never {
  throw new Error('no JSON of this')
}

it('marks a step without a value that PostgreSQL refuses, and says so', async () => {
  let calls = 0
  const values: unknown[] = []
  // One level more than PostgreSQL's stack takes.
  const deep = '['.repeat(50_000) + ']'.repeat(50_000)
  const { worker } = await run(async (_task, context) => {
    values.push(
      await context.once('step', async () => {
        calls += 1
        return { toJSON: () => JSON.parse(deep) as unknown }
      }),
    )
    failFirst(context)
  })
  expect(calls).toBe(1)
  expect(values).toEqual([undefined, undefined])
  expect(worker.lines.filter(({ level }) => level === 'warn').map(({ message }) => message)).toContain(
    'The value of a step can not be stored; it is marked without one',
  )
})

it('marks in the transaction that it is given', async () => {
  const calls: number[] = []
  const seenOutside: string[] = []
  const { table, id } = await run(async (_, context) => {
    await inTransaction(pool, async (tx) => {
      await context.once(tx, 'row', async () => calls.push(context.attempt))
      seenOutside.push(...(await marksOf(pool, `once_${tables}`, '1')))
      failFirst(context)
    })
  })
  // The first transaction was rolled back, and its mark with it.
  expect(calls).toEqual([1, 2])
  expect(seenOutside).toEqual([])
  expect(await marksOf(pool, table, id)).toEqual(['row'])
})

it('passes by a step whose mark was committed with its work', async () => {
  await pool.query('create table public.effects (note text)')
  await run(async (_, context) => {
    await inTransaction(pool, (tx) =>
      context.once(tx, 'row', async () => {
        await tx.query(`insert into public.effects values ('once')`)
      }),
    )
    failFirst(context)
  })
  expect((await pool.query('select * from public.effects')).rowCount).toBe(1)
})

it("takes Kysely's transaction too, whatever its plugins and the driver's parsers do", async () => {
  const own = new Pool({
    connectionString: database.url,
    max: 1,
    types: { getTypeParser: () => (text: string) => text },
  })
  const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: own }), plugins: [new CamelCasePlugin()] })
  const values: unknown[] = []
  let calls = 0
  await run(async (_, context) => {
    const work = async () => {
      calls += 1
      return { snake_case: [1] }
    }
    values.push(await inTransaction(kysely, (tx) => context.once(tx, 'row', work)))
    failFirst(context)
  })
  await kysely.destroy()
  expect(values).toEqual([{ snake_case: [1] }, { snake_case: [1] }])
  expect(calls).toBe(1)
})

it('takes a step and the finish in one transaction', async () => {
  const { table, id } = await run(async (task, context, self) => {
    await inTransaction(pool, async (tx) => {
      await context.once(tx, 'row', async () => {})
      await self.finish(tx, task)
    })
  })
  expect(await marksOf(pool, table, id)).toEqual(['row'])
})

it('refuses a run whose task was taken over during the step, and writes no mark', async () => {
  const [entered, go] = [new Latch(), new Latch()]
  let refusal: unknown
  const { table, id, worker } = await run(
    async (_, context) => {
      if (context.attempt > 1) return
      refusal = await context
        .once('send', async () => {
          entered.open()
          await go.opened
        })
        .catch((error: unknown) => error)
      throw refusal
    },
    { until: 'started' },
  )
  await within(entered.opened)
  // Behind the worker's back: nobody tells it.
  await pool.query(`update tasks.${table} set run_token = gen_random_uuid() where id = $1`, [id])
  go.open()
  await worker.seen('lost')
  expect(refusal).toBeInstanceOf(TaskNotRunningError)
  expect(await marksOf(pool, table, id)).toEqual([])
})

it('fails readably, before the step is done, when the handler itself holds its task by an open finish', async () => {
  let calls = 0
  let refusal: unknown
  await run(async (task, context, self) => {
    if (context.attempt > 1) return
    await inTransaction(pool, async (tx) => {
      await self.finish(tx, task)
      await context.once('send', async () => {
        calls += 1
      })
    }).catch((error: unknown) => {
      refusal = error
      throw error
    })
  })
  expect(calls).toBe(0)
  expect(refusal).toBeInstanceOf(TaskInUseError)
  expect((refusal as TaskInUseError).hint).toContain('once(connection, step, work)')
})

it('does not hang for ever when the handler finishes during the step', async () => {
  let refusal: unknown
  await run(async (task, context, self) => {
    if (context.attempt > 1) return
    await inTransaction(pool, (tx) => context.once('send', () => self.finish(tx, task))).catch((error: unknown) => {
      refusal = error
      throw error
    })
  })
  expect(refusal).toBeInstanceOf(TaskInUseError)
})

it('waits for a transaction that holds the task for a moment', async () => {
  const [entered, go] = [new Latch(), new Latch()]
  const { table, id, worker } = await run(
    async (_, context) => {
      await context.once('send', async () => {
        entered.open()
        await go.opened
      })
    },
    { until: 'started' },
  )
  await within(entered.opened)
  const user = await database.client()
  await user.query('begin')
  await user.query(`update tasks.${table} set comment = 'looked at' where id = $1`, [id])
  go.open()
  await waitFor(() => worker.lines.some(({ message }) => message.startsWith('A step could not be begun or marked')))
  await user.query('commit')
  await worker.seen('finished')
  expect(await marksOf(pool, table, id)).toEqual(['send'])
})

it('refuses the same step twice at the same time, and other steps not', async () => {
  const results: unknown[] = []
  const { table, id } = await run(async (_, { once }) => {
    const latch = new Latch()
    const [first, second, other] = [
      once('send', () => latch.opened),
      once('send', async () => 'second'),
      once('other', async () => 'other'),
    ]
    results.push(...(await Promise.allSettled([second, other])))
    latch.open()
    await first
    results.push(await once('send', async () => 'third'))
  })
  expect(results).toEqual([
    { status: 'rejected', reason: expect.any(InvalidArgumentError) },
    { status: 'fulfilled', value: 'other' },
    undefined,
  ])
  expect(await marksOf(pool, table, id)).toEqual(['other', 'send'])
})

it('refuses arguments that can not be used', async () => {
  const refusals: unknown[] = []
  const work = async (): Promise<void> => {}
  await run(async (_task, context) => {
    const once = context.once as (...given: readonly unknown[]) => Promise<unknown>
    const calls = [
      ['', work],
      ['a\u0000', work],
      ['ä'.repeat(501), work],
      ['send'],
      [Promise.resolve(), 'send', work],
      [undefined, 'send', work],
    ]
    for (const args of calls) refusals.push(await once(...args).catch((error: unknown) => error))
  })
  const problem = (argument: string) => ({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(argument) })
  expect(refusals).toMatchObject([
    ...Array.from({ length: 3 }, () => problem('"step" must be the name of the step: a text of 1 to 1000 bytes')),
    problem('"work" must be a function'),
    problem('connection is a promise (is an await missing?)'),
    problem('connection is undefined'),
  ])
})

it('leaves the columns of the task as they are', async () => {
  const { table, id } = await run(async (_, context) => {
    await context.once('send', async () => 'sent')
  })
  expect(await readTask(pool, table, id)).toMatchObject({ state: 'finished', last_error: null, comment: null })
})
