import { Task, Worker, type WorkerOptions } from '@pg-tasks/client'
import { describe, expect, it } from 'vitest'
import { taskOf } from './start-worker.js'

const connectionString = 'postgres://user:secret-word@localhost/database'

// B-06, B-59. Nothing here connects.
describe('options of a worker', () => {
  it.each<[string, unknown, RegExp]>([
    ['no connection', {}, /connectionString.*missing/],
    ['an unknown option', { connectionString, pollInterval: 5 }, /"pollInterval".*Did you mean "pollIntervalMs"/],
    [
      'a number that is none',
      { connectionString, pollIntervalMs: Number.NaN },
      /"pollIntervalMs" must be a number of milliseconds.*NaN/,
    ],
    ['zero', { connectionString, pollIntervalMs: 0 }, /pollIntervalMs/],
    ['a negative number', { connectionString, heartbeatIntervalMs: -1 }, /heartbeatIntervalMs/],
    ['infinity', { connectionString, pollIntervalMs: Number.POSITIVE_INFINITY }, /pollIntervalMs/],
    ['a text', { connectionString, stopTimeoutMs: '5' }, /stopTimeoutMs.*a string/],
    ['a batch beyond what acquire takes', { connectionString, batchSize: 32_768 }, /batchSize.*10000/],
    ['a batch of one and a half', { connectionString, batchSize: 1.5 }, /batchSize.*whole/],
    ['null', { connectionString, abortGraceMs: null }, /abortGraceMs.*null/],
    ['a flag that is none', { connectionString, handleSignals: 1 }, /handleSignals.*true or false/],
    ['a logger without levels', { connectionString, logger: console.log }, /logger.*debug/],
    ['an undefined connection string', { connectionString: undefined }, /connectionString.*environment/],
    ['key and value', { connectionString: 'host=/tmp dbname=x' }, /key=value/],
    [
      'a password that is not encoded',
      { connectionString: 'postgres://user:p@ss#w:o/rd%@localhost/db' },
      /encodeURIComponent/,
    ],
    ['a pool that is none', { pool: {} }, /pool.*pg Pool/],
    ['no object', 'postgres://localhost', /must be an object/],
  ])('are refused at once, by name: %s', (_name, options, message) => {
    let error: unknown
    try {
      new Worker(options as WorkerOptions)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toMatchObject({ name: 'InvalidOptionError', code: 'INVALID_OPTION' })
    expect((error as Error).message).toMatch(message)
    expect((error as Error).message).not.toMatch(/secret-word|p@ss/)
  })
})

describe('add()', () => {
  it.each([0, -1, 1.5, Number.NaN, 10_001, Number.POSITIVE_INFINITY, '5', null, { concurrency: 4 }])(
    'refuses the concurrency %s',
    (concurrency) => {
      const worker = new Worker({ connectionString })
      expect(() => worker.add(taskOf('a'), concurrency as number)).toThrow(
        expect.objectContaining({
          code: 'INVALID_ARGUMENT',
          message: expect.stringMatching(/concurrency.*from 1 to 10000(?!.*object Object)/),
        }),
      )
    },
  )

  it('suggests the option of a Task that was meant by two letters in the wrong order', () => {
    expect(() => taskOf('a', () => {}, { tabel: 'b' } as object)).toThrow(/"tabel" is unknown\. Did you mean "table"\?/)
  })

  it('refuses what is no Task, two Tasks for one table, and a worker that was stopped', async () => {
    const worker = new Worker({ connectionString })
    const task = taskOf('a')
    expect(worker.add(task).add(task, 3)).toBe(worker)
    expect(() => worker.add({ run() {} } as never)).toThrow(/extends Task/)
    expect(() => worker.add(Task as never)).toThrow(/not its class: give new Task/)
    expect(() => worker.add(taskOf('a'))).toThrow(/tasks\.a.*another Task/)
    await worker.stop()
    expect(() => worker.add(taskOf('b'))).toThrow(/stopped/)
  })

  it('knows nothing of a type that is not there any more', async () => {
    const worker = new Worker({ connectionString })
    await worker.remove(taskOf('nowhere'))
    const task = taskOf('a')
    worker.add(task)
    await worker.remove(task)
    expect(worker.health().types).toEqual([])
    worker.add(taskOf('a'))
    await worker.stop()
  })
})
