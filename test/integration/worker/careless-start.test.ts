import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { inspect } from 'node:util'
import { inTransaction, Task, TypeNotRegisteredError, Worker } from '@pg-tasks/client'
import { describe, expect, it } from 'vitest'
import { startProxy } from '../../support/proxy.js'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase } from '../../support/test-database.js'
import { within } from '../../support/wait-for.js'
import { Latch, newWorker, startWorker, taskOf } from './start-worker.js'

const database = await createDatabase()
await createTaskType(database.pool, 'say_hello', { columns: 'name text' })

describe('a table that is not registered', () => {
  it.each([
    ['say_helo', /tasks\.say_helo is not a registered task type.*Did you mean tasks\.say_hello\?.*tasks\.register/],
    ['tasks.say_hello', /Did you mean tasks\.say_hello\?/],
    ['resize_image', /^The table tasks\.resize_image is not a registered task type: select tasks\.register\(/],
  ])('is answered with the type that was meant: %s', async (table, message) => {
    const worker = new Worker({ connectionString: database.url, handleSignals: false })
    worker.add(taskOf(table))
    const refused = await worker.run().catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(TypeNotRegisteredError)
    expect((refused as Error).message).toMatch(message)
    // An error that ends a program is read as Node prints it.
    expect(inspect(refused)).not.toContain('undefined')
  })
})

describe('a database that can not be reached at the start', () => {
  const wrong = new URL(database.url)
  wrong.password = 'a-wrong-one'

  it('is told by the process where nobody else would hear of it, without the password', async () => {
    const worker = new Worker({ connectionString: wrong.href, handleSignals: false })
    worker.add(taskOf('say_hello'))
    const warned = once(process, 'warning')
    const running = worker.run()
    const [warning] = (await within(warned, { timeoutMs: 15_000, what: 'the warning' })) as [Error]
    await worker.stop({ timeoutMs: 0 })
    await running
    expect(warning).toMatchObject({
      name: 'PgTasksWarning',
      message: expect.stringMatching(/goes on trying to reach its database: .*password authentication failed/),
    })
    expect(warning.message).not.toContain('a-wrong-one')
  })

  it('is left to the logger where there is one', async () => {
    const warnings: Error[] = []
    const note = (warning: Error) => warnings.push(warning)
    process.on('warning', note)
    const recorded = newWorker({ connectionString: wrong.href }, [taskOf('say_hello'), 1])
    recorded.running = recorded.worker.run()
    await recorded.seen('error')
    await recorded.worker.stop({ timeoutMs: 0 })
    process.off('warning', note)
    expect(warnings).toEqual([])
  })
})

describe('a worker whose database is down when it starts', () => {
  it('is ready once it answers, and not before', async () => {
    const proxy = await startProxy(database.url)
    try {
      await proxy.down()
      const recorded = newWorker({ connectionString: proxy.url }, [taskOf('say_hello'), 1])
      recorded.running = recorded.worker.run()
      await recorded.seen('error')
      expect(recorded.of('ready')).toEqual([])
      await proxy.pass()
      await recorded.seen('ready')
      expect(recorded.worker.health().database).toMatchObject({ answers: true })
      await recorded.worker.stop()
      expect(recorded.of('ready')).toHaveLength(1)
    } finally {
      await proxy.close()
    }
  })

  it('says nothing of the connections that it closes itself, whenever it is stopped', async () => {
    const proxy = await startProxy(database.url)
    try {
      await proxy.down()
      // Some of these moments are while it waits to connect for its schedules.
      const moments = Array.from({ length: 10 }, (_, index) => index * 30)
      const lines = await Promise.all(
        moments.map(async (afterMs) => {
          const recorded = newWorker({ connectionString: proxy.url }, [taskOf('say_hello'), 1])
          recorded.running = recorded.worker.run()
          await recorded.seen('not_listening')
          await setTimeout(afterMs)
          await recorded.worker.stop({ timeoutMs: 0 })
          return recorded.lines
        }),
      )
      expect(lines.flat().filter(({ fields }) => String(fields.error).includes('[CLOSED]'))).toEqual([])
    } finally {
      await proxy.close()
    }
  })
})

describe('options of stop() that can not be used', () => {
  it.each<[string, unknown, RegExp]>([
    ['a wrong name', { timeout: 5 }, /^stop: option "timeout" is unknown\. Did you mean "timeoutMs"\?/],
    ['a text for a number', { timeoutMs: '5' }, /^stop: option "timeoutMs" must be a number of milliseconds/],
    ['a signal, as an event hands it on', 'SIGTERM', /^stop: option "options" must be an object, not a string/],
    ['null', null, /^stop: option "options" must be an object, not null/],
  ])('are told, and the worker stops: %s', async (_name, options, message) => {
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('say_hello'), 1])
    await recorded.worker.stop(options as never)
    expect(recorded.worker.health().state).toBe('stopped')
    expect(recorded.of('error')).toMatchObject([{ code: 'INVALID_OPTION', message: expect.stringMatching(message) }])
    expect(recorded.lines.filter(({ level }) => level === 'error')).toMatchObject([
      { fields: { error: expect.stringMatching(message) }, message: 'Stopping within stopTimeoutMs, 30000 ms' },
    ])
  })
})

it('a handler that returns before it finishes its task hears what is missing', async () => {
  const returned = new Latch()
  let late: Promise<unknown> = Promise.resolve()
  const recorded = await startWorker({ connectionString: database.url }, [
    taskOf('say_hello', (task, _context, self) => {
      late = returned.opened.then(() => inTransaction(database.pool, (tx) => self.finish(tx, task)))
      late.catch(() => {})
    }),
    1,
  ])
  await database.pool.query('insert into tasks.say_hello default values')
  await recorded.seen('finished')
  returned.open()
  await expect(late).rejects.toMatchObject({ code: 'TASK_NOT_RUNNING', hint: expect.stringMatching(/await missing/) })
})

it('a Task without a method run is refused when it is added', () => {
  // @ts-expect-error What TypeScript refuses, JavaScript doesn't.
  const Unfinished = class extends Task {}
  const worker = new Worker({ connectionString: database.url })
  expect(() => worker.add(new Unfinished({ table: 'say_hello' }))).toThrow(/"task" has no method run: Unfinished/)
})
