import { AsyncLocalStorage } from 'node:async_hooks'
import { type BatchRun, BatchTask, CancelTask, type Claimed, Task, type TaskContext } from '@pg-tasks/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { createTaskType, insertTasks, readTask } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { Latch, newWorker, type RecordedWorker, taskOf } from '../worker/start-worker.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

async function runOne(recorded: RecordedWorker, table: string, end: 'finished' | 'failed' | 'canceled' = 'finished') {
  recorded.running = recorded.worker.run()
  const [id = ''] = await insertTasks(database.pool, table)
  await recorded.seen(end)
  await recorded.worker.stop()
  return readTask(database.pool, table, id)
}

describe('middleware', () => {
  it('stands around the handler in the order in which it was added, and is told the type', async () => {
    await createTaskType(database.pool, 'in_order')
    const steps: string[] = []
    const task = taskOf('in_order', async () => {
      steps.push('handler')
      return 'result'
    })
    const recorded = newWorker({ connectionString: database.url }, [task, 1])
    for (const name of ['first', 'second']) {
      recorded.worker.use(async ({ id }, { schema, table, attempt, signal }, next) => {
        steps.push(`${name} ${schema}.${table} ${id} ${attempt} ${signal.aborted}`)
        const result = await next()
        steps.push(`${name} ${result}`)
        return result
      })
    }
    await runOne(recorded, 'in_order')
    expect(steps).toEqual([
      'first tasks.in_order 1 1 false',
      'second tasks.in_order 1 1 false',
      'handler',
      'second result',
      'first result',
    ])
  })

  it('sees what the handler throws, and what it throws itself counts as thrown by the handler', async () => {
    await createTaskType(database.pool, 'throwing', { maxRetries: 0 })
    const task = taskOf('throwing', async () => {
      throw new Error('from the handler')
    })
    const recorded = newWorker({ connectionString: database.url }, [task, 1])
    recorded.worker.use(async (_task, _context, next) => {
      try {
        await next()
      } catch (error) {
        throw new Error('from the middleware', { cause: error })
      }
    })
    const row = await runOne(recorded, 'throwing', 'failed')
    expect(row.last_error).toMatch(/from the middleware[\s\S]*from the handler/)
  })

  it('ends with the handler, and as the handler does, where an await is missing before next', async () => {
    await createTaskType(database.pool, 'not_awaited', { maxRetries: 0 })
    const latch = new Latch()
    const task = taskOf('not_awaited', async ({ id }) => {
      await latch.opened
      if (id === '2') throw new Error('heard all the same')
    })
    const recorded = newWorker({ connectionString: database.url }, [task, 2])
    const returned: string[] = []
    recorded.worker.use(async ({ id }, _context, next) => {
      void next()
      returned.push(id)
    })
    recorded.running = recorded.worker.run()
    await insertTasks(database.pool, 'not_awaited', 2)
    await waitFor(() => returned.length === 2)
    latch.open()
    await recorded.seen('finished')
    expect((await recorded.seen('failed'))[0]).toMatchObject({ id: '2', error: { message: 'heard all the same' } })
    expect(recorded.ids('finished')).toEqual(['1'])
  })

  it('can cancel the task with CancelTask', async () => {
    await createTaskType(database.pool, 'canceling')
    const recorded = newWorker({ connectionString: database.url }, [taskOf('canceling'), 1])
    recorded.worker.use(() => {
      throw new CancelTask('not on Sundays')
    })
    expect(await runOne(recorded, 'canceling', 'canceled')).toMatchObject({
      state: 'canceled',
      comment: 'not on Sundays',
    })
  })

  it('finishes the task without running it if it never calls next', async () => {
    await createTaskType(database.pool, 'passed_by')
    let ran = false
    const task = taskOf('passed_by', async () => {
      ran = true
    })
    const recorded = newWorker({ connectionString: database.url }, [task, 1])
    recorded.worker.use(() => {})
    expect(await runOne(recorded, 'passed_by')).toMatchObject({ state: 'finished' })
    expect(ran).toBe(false)
  })

  it('runs the handler once, however often it calls next', async () => {
    await createTaskType(database.pool, 'twice', { maxRetries: 0 })
    let runs = 0
    const task = taskOf('twice', async () => {
      runs += 1
    })
    const recorded = newWorker({ connectionString: database.url }, [task, 1])
    recorded.worker.use(async (_task, _context, next) => {
      await next()
      await next()
    })
    const row = await runOne(recorded, 'twice', 'failed')
    expect(runs).toBe(1)
    expect(row.last_error).toMatch(/"next" was called twice/)
  })

  it('carries its async context to the handler, which has its whole own context', async () => {
    await createTaskType(database.pool, 'with_context')
    const tenant = new AsyncLocalStorage<string>()
    const seen: unknown[] = []
    const task = taskOf('with_context', async (_task, context) => {
      seen.push(tenant.getStore(), await context.once('a step', async () => 'done'))
    })
    const recorded = newWorker({ connectionString: database.url }, [task, 1])
    recorded.worker.use((_task, _context, next) => tenant.run('acme', next))
    await runOne(recorded, 'with_context')
    expect(seen).toEqual(['acme', 'done'])
  })

  it('stands around each member of a batch, and leaves the batch whole', async () => {
    await createTaskType(database.pool, 'in_a_batch')
    await insertTasks(database.pool, 'in_a_batch', 3)
    const around: string[] = []
    const batches: number[] = []
    class InABatch extends BatchTask {
      override async runMany(runs: readonly BatchRun[]) {
        batches.push(runs.length)
        runs[1]?.fail(new CancelTask())
      }
    }
    const recorded = newWorker({ connectionString: database.url }, [new InABatch({ table: 'in_a_batch' }), 3])
    recorded.worker.use(async ({ id }, _context, next) => {
      try {
        await next()
        around.push(`${id} done`)
      } catch (error) {
        around.push(`${id} ${(error as Error).name}`)
        throw error
      }
    })
    recorded.running = recorded.worker.run()
    await Promise.all([recorded.seen('finished', { count: 2 }), recorded.seen('canceled')])
    await recorded.worker.stop()
    expect(batches).toEqual([3])
    expect(around).toEqual(['1 done', '2 CancelTask', '3 done'])
  })

  it('stands around runs in one transaction, and may write in it', async () => {
    await createTaskType(database.pool, 'in_one_transaction')
    await database.pool.query('create table written (id bigint, by text)')
    const task = new (class extends Task {
      constructor() {
        super({ table: 'in_one_transaction', settle: 'one_transaction' })
      }
      override async run({ id }: Claimed, { tx }: TaskContext) {
        await tx.query('insert into written values ($1, $2)', [id, 'handler'])
      }
    })()
    const recorded = newWorker({ connectionString: database.url }, [task, 5])
    recorded.worker.use(async ({ id }, { tx }, next) => {
      await tx.query('insert into written values ($1, $2)', [id, 'middleware'])
      return next()
    })
    recorded.running = recorded.worker.run()
    await insertTasks(database.pool, 'in_one_transaction', 2)
    await recorded.seen('finished', { count: 2 })
    await recorded.worker.stop()
    const { rows } = await database.pool.query('select id, by from written order by 1, 2 desc')
    expect(rows.map(({ id, by }) => `${id} ${by}`)).toEqual(['1 middleware', '1 handler', '2 middleware', '2 handler'])
  })

  it('is refused where it is no function', () => {
    const { worker } = newWorker({ connectionString: database.url })
    expect(() => worker.use(undefined as never)).toThrow(/"middleware" must be a function/)
  })
})
