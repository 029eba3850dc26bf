import { inTransaction, NotSettledError, RetryTask, type Task, TransactionRolledBackError } from '@pg-tasks/client'
import { Kysely, PostgresDialect } from 'kysely'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startProxy, type TestProxy } from '../../support/proxy.js'
import { createTaskType, insertTasks, readTask } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { aborted, type Handler, Latch, type RecordedWorker, startWorker, taskOf } from './start-worker.js'

let database: TestDatabase
let pool: Pool

beforeAll(async () => {
  database = await createDatabase()
  await database.pool.query('create table effects (of text, note text)')
  pool = new Pool({ connectionString: database.url, max: 4 })
  pool.on('error', () => {})
})

afterAll(() => pool.end())

async function effects(table: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ note: string }>('select note from effects where of = $1 order by note', [
    table,
  ])
  return rows.map((row) => row.note)
}

async function runOne(
  table: string,
  handler: Handler<object>,
  options: { readonly autoFinish?: boolean; readonly storageTime?: string; readonly timeout?: string } = {},
): Promise<{ readonly id: string; readonly recorded: RecordedWorker; readonly task: Task<object> }> {
  const { autoFinish = true, ...settings } = options
  await createTaskType(database.pool, table, { backoffBase: '1 hour', ...settings })
  const [id] = await insertTasks(database.pool, table)
  const task = taskOf(table, handler, { autoFinish })
  const recorded = await startWorker({ connectionString: database.url }, [task, 1])
  return { id: id as string, recorded, task }
}

describe('a handler that finishes in its own transaction', () => {
  it.each([true, false])('has finished once it is committed (autoFinish %s)', async (autoFinish) => {
    const { id, recorded } = await runOne(
      `commits_${autoFinish}`,
      async (task, _, self) => {
        await inTransaction(pool, async (tx) => {
          await tx.query("insert into effects values ($1, 'done')", [self.options.table])
          await self.finish(tx, task, { comment: 'sent' })
        })
      },
      { autoFinish },
    )
    const [event] = await recorded.seen('finished')
    expect(event).toMatchObject({ id, attempt: 1 })
    expect(await readTask(database.pool, `commits_${autoFinish}`, id)).toMatchObject({
      state: 'finished',
      comment: 'sent',
    })
    expect(recorded.of('lost')).toEqual([])
  })

  it('has finished where finished tasks are deleted', async () => {
    const { id, recorded } = await runOne(
      'commits_deleted',
      (task, _, self) => inTransaction(pool, (tx) => self.finish(tx, task)),
      { storageTime: '0' },
    )
    const [event] = await recorded.seen('finished')
    expect(event).toMatchObject({ id })
  })

  it('is told of what its handler threw afterwards, and not run again for it', async () => {
    const { id, recorded } = await runOne('throws_late', async (task, _, self) => {
      await inTransaction(pool, (tx) => self.finish(tx, task))
      throw new Error('nobody would hear of this')
    })
    expect((await recorded.seen('error'))[0]).toMatchObject({ message: 'nobody would hear of this' })
    expect(recorded.ids('finished')).toEqual([id])
    expect(recorded.lines.find(({ level }) => level === 'error')).toMatchObject({
      fields: { table: 'throws_late', id, attempt: 1, error: expect.stringMatching(/^Error: nobody would hear/) },
      message: expect.stringMatching(/threw after its task was settled/),
    })
    expect(await readTask(database.pool, 'throws_late', id)).toMatchObject({ state: 'finished', last_error: null })
  })

  it('is not told of what its handler throws because it was canceled, by this process too', async () => {
    const { id, recorded, task } = await runOne('canceled_here', async (_task, { signal }) => {
      await aborted(signal)
      signal.throwIfAborted()
    })
    await recorded.seen('started')
    await task.cancel(database.pool, id)
    await recorded.seen('canceled')
    await recorded.worker.stop()
    expect(recorded.of('error')).toEqual([])
    expect(recorded.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  it.each([
    ['returns', 'finished_in_sql'],
    ['throws', 'finished_in_sql_and_throws'],
  ])('has finished also where it did so in SQL, and then %s', async (end, table) => {
    const { id, recorded } = await runOne(table, async (task) => {
      await pool.query(`select tasks.finish_tasks_${table}($1, run_token => $2)`, [task.id, task.run_token])
      if (end === 'throws') throw new Error('after finish')
    })
    await recorded.seen('finished')
    expect(recorded.ids('finished')).toEqual([id])
    expect(recorded.of('lost')).toEqual([])
    if (end === 'throws') await recorded.seen('error', { where: ({ message }) => message === 'after finish' })
  })

  // PEERS 2
  it('is retried when the transaction rolls back, and its writes are gone', async () => {
    const { id, recorded } = await runOne('rolls_back', (task, _, self) =>
      inTransaction(pool, async (tx) => {
        await tx.query("insert into effects values ($1, 'undone')", [self.options.table])
        await self.finish(tx, task)
        throw new Error('after finish')
      }),
    )
    const [event] = await recorded.seen('retried')
    expect(event.error).toEqual(new Error('after finish'))
    expect(await readTask(database.pool, 'rolls_back', id)).toMatchObject({ state: 'scheduled', execution_count: 1 })
    expect(await effects('rolls_back')).toEqual([])
  })

  it('is retried as its RetryTask says when the transaction rolls back', async () => {
    const { id, recorded } = await runOne('rolls_back_by_choice', (task, _, self) =>
      inTransaction(pool, async (tx) => {
        await self.finish(tx, task)
        throw new RetryTask({ delayMs: 0, comment: 'later' })
      }),
    )
    await recorded.seen('retried')
    expect(await readTask(database.pool, 'rolls_back_by_choice', id)).toMatchObject({ comment: 'later' })
  })

  it('is retried when it rolled back and returned all the same', async () => {
    const { id, recorded } = await runOne('rolls_back_silently', async (task, _, self) => {
      const client = await pool.connect()
      await client.query('begin')
      await self.finish(client, task)
      await client.query('rollback')
      client.release()
    })
    const [event] = await recorded.seen('retried')
    expect(event.error).toBeInstanceOf(NotSettledError)
    const row = await readTask(database.pool, 'rolls_back_silently', id)
    expect(row.last_error).toMatch(/not committed/)
  })

  it('is retried when an error was swallowed and COMMIT was answered by a rollback', async () => {
    const { recorded } = await runOne('swallows', (task, _, self) =>
      inTransaction(pool, async (tx) => {
        await tx.query("insert into effects values ($1, 'undone')", [self.options.table])
        await self.finish(tx, task)
        await tx.query('select 1 / 0').catch(() => {})
      }),
    )
    const [event] = await recorded.seen('retried')
    expect(event.error).toBeInstanceOf(TransactionRolledBackError)
    expect(await effects('swallows')).toEqual([])
  })

  it('is retried when an error was swallowed in a Kysely transaction', async () => {
    const kysely = new Kysely<object>({ dialect: new PostgresDialect({ pool }) })
    const { recorded } = await runOne('swallows_in_kysely', (task, _, self) =>
      inTransaction(kysely, async (tx) => {
        await self.finish(tx, task)
        await self.finish(tx, task).catch(() => {})
      }),
    )
    await recorded.seen('retried')
    expect(recorded.of('finished')).toEqual([])
  })

  it('has finished although it did not wait for its transaction', async () => {
    const latch = new Latch()
    let transaction: Promise<unknown> | undefined
    const { id, recorded } = await runOne('does_not_wait', async (task, _, self) => {
      transaction = inTransaction(pool, async (tx) => {
        await tx.query("insert into effects values ($1, 'done')", [self.options.table])
        await self.finish(tx, task)
        await latch.opened
      })
      await waitFor(async () => {
        const { rows } = await database.pool.query(
          `select from pg_locks l join pg_stat_activity a using (pid)
           where a.state = 'idle in transaction' and l.relation = 'tasks.does_not_wait'::regclass`,
        )
        return rows.length > 0
      })
    })
    // The worker is told that it still runs, and waits for the row.
    await waitFor(async () => {
      const { rows } = await database.pool.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%retry_tasks_does_not_wait%'`,
      )
      return rows.length > 0
    })
    latch.open()
    await transaction
    const [event] = await recorded.seen('finished')
    expect(event).toMatchObject({ id })
    expect(recorded.of('retried')).toEqual([])
    expect(recorded.of('lost')).toEqual([])
    expect(await effects('does_not_wait')).toEqual(['done'])
  })

  it('is fenced also where it names its task by the id alone', async () => {
    const latch = new Latch()
    let refused: unknown
    const { id, recorded, task } = await runOne('by_id', async (claimed, { attempt }, self) => {
      if (attempt > 1) return
      await latch.opened
      refused = await inTransaction(pool, async (tx) => {
        await tx.query("insert into effects values ($1, 'undone')", [self.options.table])
        await self.finish(tx, claimed.id)
      }).catch((error: unknown) => error)
      throw refused
    })
    await recorded.seen('started')
    await task.reset(database.pool, id)
    await recorded.seen('lost')
    // Somebody else runs it now, with another token.
    const [claimed] = await task.acquire(database.pool)
    expect(claimed).toMatchObject({ id })
    latch.open()
    await waitFor(() => refused)
    expect(refused).toMatchObject({ code: 'TASK_NOT_RUNNING' })
    expect(await effects('by_id')).toEqual([])
    expect(await readTask(database.pool, 'by_id', id)).toMatchObject({ state: 'running', run_worker: null })
  })
})

describe('a handler that settles otherwise on its own connection', () => {
  it('has retried its task', async () => {
    const { id, recorded } = await runOne('retries_itself', async (task, _, self) => {
      expect(await self.retry(pool, task, { delayMs: 3_600_000, comment: 'tomorrow' })).toBe('scheduled')
    })
    const [event] = await recorded.seen('retried')
    expect(event).toMatchObject({ id, state: 'scheduled' })
    expect(await readTask(database.pool, 'retries_itself', id)).toMatchObject({
      state: 'scheduled',
      comment: 'tomorrow',
    })
    expect(recorded.of('lost')).toEqual([])
  })

  it('has canceled its task', async () => {
    const { id, recorded } = await runOne('cancels_itself', (task, _, self) =>
      self.cancel(pool, task, { comment: 'no' }),
    )
    const [event] = await recorded.seen('canceled')
    expect(event).toMatchObject({ id })
    expect(recorded.of('lost')).toEqual([])
  })

  it('goes on undisturbed after it has retried its task, whatever heartbeats find', async () => {
    let abortedMeanwhile: boolean | undefined
    const { id, recorded } = await runOne(
      'retries_and_goes_on',
      async (task, { signal }, self) => {
        await self.retry(pool, task, { delayMs: 3_600_000 })
        const { rows } = await database.pool.query(`select leased_until from tasks.leases where worker_id = $1`, [
          task.run_worker,
        ])
        await waitFor(async () => {
          const { rows: now } = await database.pool.query(
            `select leased_until from tasks.leases where worker_id = $1`,
            [task.run_worker],
          )
          return now[0]?.leased_until > rows[0]?.leased_until
        })
        abortedMeanwhile = signal.aborted
      },
      { timeout: '600 ms' },
    )
    const [event] = await recorded.seen('retried')
    expect(event).toMatchObject({ id })
    expect(abortedMeanwhile).toBe(false)
    expect(recorded.of('lost')).toEqual([])
  })
})

// B-50
describe('a handler whose statement fails in its own transaction', () => {
  it('counts every attempt, then fails', async () => {
    await createTaskType(database.pool, 'divides', { maxRetries: 2, backoffBase: '10 ms', backoffMax: '20 ms' })
    const [id] = await insertTasks(database.pool, 'divides')
    const task = taskOf('divides', (claimed, _, self) =>
      inTransaction(pool, async (tx) => {
        await tx.query('select 1 / 0')
        await self.finish(tx, claimed)
      }),
    )
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    const [event] = await recorded.seen('failed')
    expect(event).toMatchObject({ id, attempt: 3 })
    const row = await readTask(database.pool, 'divides', id as string)
    expect(row).toMatchObject({ state: 'failed', execution_count: 3 })
    expect(row.last_error).toMatch(/\[22012\] .*division by zero/)
  })
})

describe('a COMMIT whose answer is lost', () => {
  let proxy: TestProxy

  beforeAll(async () => {
    proxy = await startProxy(database.url)
  })

  afterAll(() => proxy.close())

  it.each([
    ['had reached the server: the task is finished once', true],
    ['had not reached the server: the task runs again', false],
  ])('%s', async (_title, deliver) => {
    const table = `commit_lost_${deliver}`
    await createTaskType(database.pool, table, { timeout: '2 s', backoffBase: '10 ms' })
    await insertTasks(database.pool, table)
    const own = new Pool({ connectionString: proxy.url, max: 1 })
    own.on('error', () => {})
    const attempts: number[] = []
    const task = taskOf(table, (claimed, { attempt }, self) => {
      attempts.push(attempt)
      return inTransaction(own, async (tx) => {
        await tx.query('insert into effects values ($1, $2)', [table, `attempt ${attempt}`])
        await self.finish(tx, claimed)
        if (attempt === 1)
          void proxy.cutWhen((data, direction) => direction === 'up' && data.includes('commit'), { deliver })
      })
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    await recorded.seen('finished')
    await own.end()
    expect(await effects(table)).toEqual([deliver ? 'attempt 1' : 'attempt 2'])
    expect(attempts).toEqual(deliver ? [1] : [1, 2])
    expect(recorded.of('lost')).toEqual([])
  })
})

describe('a worker that stops a handler with an own transaction', () => {
  it('gives the task back uncounted when the transaction rolled back', async () => {
    const { id, recorded } = await runOne('stopped_in_transaction', (task, { signal }, self) =>
      inTransaction(pool, async (tx) => {
        await self.finish(tx, task)
        throw await aborted(signal)
      }),
    )
    await recorded.seen('started')
    await recorded.worker.stop({ timeoutMs: 0 })
    expect(recorded.ids('released')).toEqual([id])
    expect(await readTask(database.pool, 'stopped_in_transaction', id)).toMatchObject({
      state: 'ready',
      execution_count: 0,
    })
  })
})
