import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Claimed, inTransaction, Task, Worker } from '@pg-tasks/client'
import { afterAll, afterEach, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { installPython, type Python, PythonWorker } from './python-worker.js'

const TIMEOUT_MS = 120_000
const ROOT = join(import.meta.dirname, '..', '..', '..')
const WAIT = { timeoutMs: 60_000 }

interface Parcel {
  readonly parcel_id: string
}

describe('a Python worker of the convention', { timeout: TIMEOUT_MS }, () => {
  let python: Python
  const running: PythonWorker[] = []

  beforeAll(async () => {
    python = await installPython()
  }, 2 * TIMEOUT_MS)
  afterEach(async () => {
    await Promise.all(running.splice(0).map((one) => one.kill()))
  })
  afterAll(() => python.remove())

  function startPython({ skip }: TestContext, { url }: TestDatabase, env: Record<string, string> = {}): PythonWorker {
    if (python.program === undefined) return skip(python.missing)
    const worker = new PythonWorker(python.program, { DATABASE_URL: url, ...env })
    running.push(worker)
    return worker
  }

  async function create(timeout: string): Promise<TestDatabase> {
    const database = await createDatabase()
    await createTaskType(database.pool, 'pack_parcel', { columns: 'parcel_id bigint not null', timeout })
    await database.pool.query('create table packed (parcel_id bigint not null, by text not null)')
    return database
  }

  function typescriptWorker({ pool, url }: TestDatabase): { worker: Worker; task: Task<Parcel> } {
    class PackParcel extends Task<Parcel> {
      override async run(task: Claimed<Parcel>): Promise<void> {
        await inTransaction(pool, async (tx) => {
          await tx.query(`insert into packed values ($1, 'typescript')`, [task.parcel_id])
          await this.finish(tx, task)
        })
      }
    }
    const worker = new Worker({ connectionString: url, handleSignals: false })
    const task = new PackParcel()
    worker.add(task, 2)
    return { worker, task }
  }

  it('serves the same table as one in TypeScript: each task is done once', async (context) => {
    const count = 400
    const database = await create('1 minute')
    const { pool } = database
    const other = startPython(context, database)
    await waitFor(() => other.output.includes('ready'), { ...WAIT, what: 'the Python worker' })
    const { worker } = typescriptWorker(database)
    const stopped = worker.run()
    // In parts, so that both get some, however fast one is.
    for (let part = 0; part < 10; part += 1) {
      await pool.query(
        'insert into tasks.pack_parcel (parcel_id) select $1 + n from generate_series(1, $2::integer) n',
        [part * (count / 10), count / 10],
      )
      await waitFor(async () => (await pool.query('select from packed')).rowCount === (part + 1) * (count / 10), WAIT)
    }
    await worker.stop()
    await stopped

    const { rows } = await pool.query(
      `select count(*)::integer, count(distinct parcel_id)::integer as parcels, count(distinct by)::integer as workers from packed`,
    )
    expect(rows).toEqual([{ count, parcels: count, workers: 2 }])
    const states = await pool.query('select total::integer, finished::integer from tasks.stats_of_tasks_pack_parcel')
    expect(states.rows).toEqual([{ total: count, finished: count }])
    expect(other.output.filter((line) => line.includes('failed'))).toEqual([])
  })

  it('is woken by an insert and not by its poll, which is a minute', async (context) => {
    const database = await create('1 minute')
    const listening = `select from pg_stat_activity where query = 'LISTEN pg_tasks' and state = 'idle' and datname = current_database()`
    startPython(context, database, { VARIANT: 'finishes itself' })
    await waitFor(async () => (await database.pool.query(listening)).rowCount === 1, WAIT)
    await database.pool.query('insert into tasks.pack_parcel (parcel_id) values (1)')
    await waitFor(async () => (await database.pool.query('select from packed')).rowCount === 1, { timeoutMs: 30_000 })
    const { rows } = await database.pool.query(
      'select comment, finished_at is not null as finished from tasks.pack_parcel',
    )
    expect(rows).toEqual([{ comment: 'packed by python', finished: true }])
  })

  it('is the one that the guide shows', () => {
    const guide = readFileSync(join(ROOT, 'docs', 'guides', 'python.md'), 'utf8')
    const [, shown] = /```python\n([\s\S]*?)```/.exec(guide) ?? []
    expect(readFileSync(join(import.meta.dirname, 'worker.py'), 'utf8')).toContain(`\n${shown}\n`)
  })

  it('that is killed leaves its task to one in TypeScript, once its lease is over', async (context) => {
    const database = await create('2 s')
    const { pool } = database
    await pool.query('insert into tasks.pack_parcel (parcel_id) values (7)')
    const other = startPython(context, database, { VARIANT: 'hangs' })
    await waitFor(() => other.output.includes('runs 7'), { ...WAIT, what: 'the Python worker' })
    await other.kill()

    const { worker, task } = typescriptWorker(database)
    worker.once('finished', () => void worker.stop())
    await worker.run()
    expect((await pool.query('select * from packed')).rows).toEqual([{ parcel_id: '7', by: 'typescript' }])
    const { rows } = await pool.query(`select execution_count, lost_count from tasks.${task.options.table}`)
    expect(rows).toEqual([{ execution_count: 2, lost_count: 1 }])
  })
})
