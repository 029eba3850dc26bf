import { beforeAll, describe, expect, it } from 'vitest'
import { Latch, startWorker, taskOf, workersAsleep } from '../integration/worker/start-worker.js'
import { createTaskType, insertTasks } from '../support/task-type.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

/** A task that was lost twice: it may be the one that kills its process. */
async function insertSuspect(table: string): Promise<string> {
  const { rows } = await database.pool.query(
    `insert into tasks.${table} (lost_count, execution_count) values (2, 2) returning id`,
  )
  return rows[0].id
}

// B-42
describe('a suspect', () => {
  it('runs alone: nothing of its type beside it, and everything again when it has ended', async () => {
    await createTaskType(database.pool, 'alone', { timeout: '600 ms' })
    const suspect = await insertSuspect('alone')
    await insertTasks(database.pool, 'alone', 5)
    const latch = new Latch()
    let atOnce = 0
    let beside = 0
    const task = taskOf('alone', async ({ id }) => {
      atOnce += 1
      if (id === suspect) {
        await latch.opened
        beside = atOnce - 1
      }
      atOnce -= 1
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 5])
    await recorded.seen('started')
    expect(recorded.ids('started')).toEqual([suspect])
    await insertTasks(database.pool, 'alone', 5)
    // Three leases: heartbeats tell of nothing that would change this.
    await waitFor(async () => {
      const { rows } = await database.pool.query(
        `select clock_timestamp() - started_at > interval '1800 ms' as over from tasks.alone where id = $1`,
        [suspect],
      )
      return rows[0]?.over
    })
    expect(recorded.ids('started')).toEqual([suspect])
    latch.open()
    await recorded.seen('finished', { count: 11 })
    expect(beside).toBe(0)
  })

  it('gets its turn in a worker that is never idle by itself', async () => {
    await createTaskType(database.pool, 'turn', { timeout: '900 ms' })
    let over = false
    const recorded = await startWorker({ connectionString: database.url }, [
      taskOf('turn', async () => {
        if (!over) void insertTasks(database.pool, 'turn')
        await new Promise((resolve) => setTimeout(resolve, 30))
      }),
      3,
    ])
    await insertTasks(database.pool, 'turn', 6)
    await recorded.seen('finished', { count: 20 })
    const suspect = await insertSuspect('turn')
    await recorded.seen('finished', { where: (event) => event.id === suspect, timeoutMs: 10_000 })
    over = true
    await workersAsleep(database.pool, 'turn')
  })

  it('keeps nobody else from other types', async () => {
    await createTaskType(database.pool, 'suspected')
    await createTaskType(database.pool, 'unsuspected')
    await insertSuspect('suspected')
    const latch = new Latch()
    const recorded = await startWorker(
      { connectionString: database.url },
      [taskOf('suspected', () => latch.opened), 2],
      [taskOf('unsuspected'), 2],
    )
    await recorded.seen('started')
    await insertTasks(database.pool, 'unsuspected', 3)
    await recorded.seen('finished', { count: 3 })
    latch.open()
    await recorded.seen('finished', { count: 4 })
  })
})
