import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, expect, it } from 'vitest'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase } from '../../support/test-database.js'
import { runCli } from './run-cli.js'

/** In the repository, so that what is generated finds the packages that it imports. */
const folder = mkdtempSync(join(import.meta.dirname, 'generated-'))
afterAll(() => rmSync(folder, { recursive: true }))

const COLUMNS = `order_id bigint not null, mood public.mood, moods public.mood[], tags text[] not null default '{}', body jsonb not null,
  amount numeric, ratio double precision, done boolean, "Mixed-Case" date, twice bigint generated always as (order_id * 2) stored,
  small smallint not null default 1, raw bytea, span interval`

function errorsOf(file: string): string[] {
  const config = ts.readConfigFile(join(import.meta.dirname, '..', '..', '..', 'tsconfig.base.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, import.meta.dirname)
  const program = ts.createProgram([file], {
    ...options,
    composite: false,
    noEmit: true,
    declaration: false,
    declarationMap: false,
  })
  return ts.getPreEmitDiagnostics(program).map((one) => ts.flattenDiagnosticMessageText(one.messageText, '\n'))
}

it('types generate writes a module that compiles, for Task and for Kysely, and tells when it is out of date', async () => {
  const database = await createDatabase()
  await database.pool.query(
    `create type public.mood as enum ('good', 'it''s bad'); create schema shop; create schema "2 b"`,
  )
  await createTaskType(database.pool, 'send_invoice', { columns: COLUMNS })
  await createTaskType(database.pool, 'tick')
  for (const schema of ['shop', '2 b'])
    await createTaskType(database.pool, 'send_invoice', { schema, columns: 'a text' })
  await database.pool.query(`comment on column tasks.send_invoice.order_id is 'The order'`)
  const generate = (...args: string[]) =>
    runCli(['types', 'generate', ...args], { env: { DATABASE_URL: database.url } })
  const file = join(folder, 'task-types.ts')
  expect(await generate('--out', file)).toMatchObject({ code: 0, stdout: expect.stringContaining('4 types written') })
  const text = readFileSync(file, 'utf8')
  expect(text).toContain('  /** The order */\n  order_id: string\n')
  expect((await generate()).stdout).toBe(text)
  // Packages that hang on ours are not found everywhere: pnpm puts them out of sight.
  expect(text.match(/from '[^']+'/g)).toEqual(["from '@pg-tasks/sql'"])

  const use = join(folder, 'use.ts')
  writeFileSync(
    use,
    `import { type Claimed, type NewTask, Task } from '@pg-tasks/client'
import type { TasksDatabase } from '@pg-tasks/sql'
import type { Kysely } from 'kysely'
import { type TasksSendInvoice, tasksSendInvoiceColumns, type TaskTables, type Tick, tickColumns } from './task-types.js'

class SendInvoice extends Task<TasksSendInvoice> {
  constructor() { super({ table: 'send_invoice', columns: tasksSendInvoiceColumns }) }
  override async run(task: Claimed<TasksSendInvoice>) {
    const order: string = task.order_id
    const mood: 'good' | "it's bad" | null = task.mood
    const when: Date | null = task['Mixed-Case']
    return [order, mood, when, task.raw satisfies Buffer | null]
  }
}
export const sendInvoice = new SendInvoice()
export const fits: NewTask<TasksSendInvoice> = { order_id: '1', body: { a: 1 } }
// @ts-expect-error order_id is missing
export const misses: NewTask<TasksSendInvoice> = { body: {} }
export const tick: NewTask<Tick> = {}
export const none: readonly never[] = tickColumns

export async function query(db: Kysely<TasksDatabase & TaskTables>) {
  await db.insertInto('tasks.send_invoice').values({ order_id: 1n, body: {}, 'Mixed-Case': '2026-01-01' }).execute()
  // @ts-expect-error PostgreSQL writes it
  await db.insertInto('tasks.send_invoice').values({ order_id: 1, body: {}, twice: '2' }).execute()
  const { twice, planned_to } = await db.selectFrom('tasks.send_invoice').select(['twice', 'planned_to']).executeTakeFirstOrThrow()
  return [twice satisfies string | null, planned_to satisfies Date]
}
`,
  )
  expect(errorsOf(use)).toEqual([])

  expect((await generate('--out', file, '--check')).code).toBe(0)
  await database.pool.query('alter table tasks.tick add column late boolean')
  const stale = await generate('--out', file, '--check')
  expect({ code: stale.code, stderr: stale.stderr }).toEqual({ code: 1, stderr: expect.stringContaining('--out') })
  expect(readFileSync(file, 'utf8')).toBe(text)
})
