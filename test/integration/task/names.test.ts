import { type Claimed, Task } from '@pg-tasks/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { startWorker, taskOf } from '../worker/start-worker.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

describe('a task table with an odd name', () => {
  it.each<[string, string, string | undefined]>([
    ['Send Letter', 'App 2', undefined],
    [`it's "quoted"`, 'tasks', undefined],
    ['select', 'user', undefined],
    ['ünïcödé', 'tasks', undefined],
    ['a.b', 'c.d', undefined],
    ['x'.repeat(63), 'tasks', 'short'],
    ['back\\slash', 'tasks', 'a "named" one'],
    ['$1%s%', 'tasks', undefined],
  ])('%s in the schema %s is served (function name %s)', async (table, schema, functionName) => {
    if (schema !== 'tasks') await database.pool.query(`create schema "${schema}"`)
    const naming = functionName === undefined ? {} : { functionName }
    await createTaskType(database.pool, table, { schema, columns: '"Odd ""Column""" text', ...naming })
    const rows: Claimed[] = []
    const task = taskOf(table, async (claimed) => rows.push(claimed), { schema, ...naming })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    const id = await task.enqueue(database.pool, { 'Odd "Column"': 'value' })
    const [event] = await recorded.seen('finished')
    expect(event).toMatchObject({ schema, table, id })
    expect(rows[0]).toMatchObject({ 'Odd "Column"': 'value' })
    await task.reset(database.pool, id)
    await recorded.seen('finished', { count: 2 })
    expect(await task.clean(database.pool, { olderThanMs: 0 })).toBe(1)
    expect(recorded.of('error')).toEqual([])
    await recorded.worker.stop()
  })
})

describe('the name of a class', () => {
  class SendInvoice extends Task {
    override async run(): Promise<void> {}
  }
  class HTTPExport2PDF extends Task {
    override async run(): Promise<void> {}
  }

  it('gives the table, in snake case, in the schema tasks', () => {
    expect(new SendInvoice().options).toEqual({
      schema: 'tasks',
      table: 'send_invoice',
      functionName: 'tasks_send_invoice',
      autoFinish: true,
      preparedStatements: false,
      settle: 'each',
    })
    expect(new HTTPExport2PDF().options.table).toBe('http_export2_pdf')
    expect(new SendInvoice({ schema: 'app' }).options.functionName).toBe('app_send_invoice')
    expect(new SendInvoice({ table: 'Other' }).options.table).toBe('Other')
  })

  it('must be there if no table is given', () => {
    const Anonymous = (() =>
      class extends Task {
        override async run(): Promise<void> {}
      })()
    expect(() => new Anonymous()).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringMatching(/table.*without a name/) }),
    )
    expect(new Anonymous({ table: 'named' }).options.table).toBe('named')
  })

  it.each<[string, unknown, RegExp]>([
    ['an unknown option', { tabl: 'x' }, /tabl.*Did you mean "table"/],
    ['an empty table', { table: '' }, /table.*empty/],
    ['a number', { schema: 5 }, /schema.*not 5/],
    ['a text for a flag', { autoFinish: 'no' }, /autoFinish.*true or false/],
    ['no object', 'send_invoice', /must be an object/],
  ])('comes with options that are checked: %s', (_name, options, message) => {
    expect(() => new SendInvoice(options as never)).toThrow(message)
  })
})
