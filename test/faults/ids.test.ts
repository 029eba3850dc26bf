import { type Claimed, Task } from '@pg-tasks/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { startWorker, taskOf } from '../integration/worker/start-worker.js'
import { createTaskType, readTask } from '../support/task-type.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'

class Numbered extends Task {
  override async run(): Promise<void> {}
}

const numbered = new Numbered()
let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
  await createTaskType(database.pool, 'numbered')
})

// B-25
describe.each(['2147483646', '9007199254740990', '9223372036854775800'])('ids around %s', (start) => {
  const ids = Array.from({ length: 5 }, (_, index) => (BigInt(start) + BigInt(index)).toString())

  it('are exact in every verb', async () => {
    await database.pool.query(`alter table tasks.numbered alter column id restart with ${start}`)
    expect(
      await numbered.enqueueMany(
        database.pool,
        ids.map(() => ({})),
      ),
    ).toEqual(ids)
    const claimed = await numbered.acquire(database.pool, 5)
    expect(claimed.map(({ id }) => id)).toEqual(ids)
    const [first, second, third] = claimed as [Claimed, Claimed, Claimed]
    await numbered.finish(database.pool, first)
    await numbered.retry(database.pool, BigInt(second.id))
    await numbered.cancel(database.pool, third.id)
    await numbered.reset(database.pool, BigInt(third.id))
    expect((await readTask(database.pool, 'numbered', ids[0] as string)).state).toBe('finished')
    expect((await readTask(database.pool, 'numbered', ids[1] as string)).state).toBe('scheduled')
    expect((await readTask(database.pool, 'numbered', ids[2] as string)).state).toBe('ready')
    await database.pool.query('truncate tasks.numbered')
  })

  it('are exact in a worker: handlers, events, heartbeats, releases', async () => {
    await database.pool.query(`alter table tasks.numbered alter column id restart with ${start}`)
    await database.pool.query(`select tasks.configure('tasks', 'numbered', 'timeout', '300 ms')`)
    await numbered.enqueueMany(
      database.pool,
      ids.map(() => ({})),
    )
    const seen: string[] = []
    const task = taskOf('numbered', async ({ id }, { signal }) => {
      seen.push(id)
      await new Promise((resolve) => {
        setTimeout(resolve, id === ids[0] ? 700 : 0)
        signal.addEventListener('abort', resolve)
      })
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 2])
    await recorded.seen('finished', { count: 5 })
    expect(seen.toSorted()).toEqual(ids.toSorted())
    expect(recorded.ids('finished').toSorted()).toEqual(ids.toSorted())
    expect(recorded.of('lost')).toEqual([])
    await recorded.worker.stop()
    await database.pool.query('truncate tasks.numbered')
  })
})

it('ids of old tables are integers, and texts all the same', async () => {
  await database.pool.query(`
    create table tasks.old_ids (like tasks.template including defaults including identity including indexes);
    alter table tasks.old_ids alter column id type integer;
    select tasks.register('tasks', 'old_ids')`)
  const old = new Numbered({ table: 'old_ids' })
  const id = await old.enqueue(database.pool, {})
  expect(id).toBe('1')
  expect((await old.acquire(database.pool))[0]?.id).toBe('1')
  await old.finish(database.pool, 1)
})

describe('an id that is none', () => {
  it.each<[string, unknown]>([
    ['a number beyond 2^53', 2 ** 53 + 2],
    ['a fraction', 1.5],
    ['NaN', Number.NaN],
    ['an empty text', ''],
    ['a text', 'abc'],
    ['null', null],
    ['undefined', undefined],
    ['an object without id', {}],
    ['an array', [1]],
  ])('is refused before the database is asked: %s', async (_name, id) => {
    const error = await numbered.finish({} as never, id as never).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'InvalidArgumentError', code: 'INVALID_ARGUMENT' })
  })
})
