import type { EventEmitter } from 'node:events'
import { once } from 'node:events'
import { inspect } from 'node:util'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { createTaskType, insertTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { newWorker, type RecordedWorker, startWorker, taskOf } from './start-worker.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

const names = (recorded: RecordedWorker) => recorded.events.map((event) => event.name)

describe('the events of a worker', () => {
  it('come in their order, with what they are about', async () => {
    await createTaskType(database.pool, 'told', { backoffBase: '10 ms', maxRetries: 1 })
    const task = taskOf('told', async ({ id }, { attempt }) => {
      if (id === '2') throw new Error('always')
      if (id === '1' && attempt === 1) throw new Error('once')
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    await insertTasks(database.pool, 'told', 2)
    await Promise.all([recorded.seen('finished'), recorded.seen('failed')])
    await recorded.worker.stop()
    expect(names(recorded).slice(0, 2)).toEqual(['listening', 'ready'])
    expect(names(recorded).slice(-2)).toEqual(['stopping', 'stopped'])
    const about = (id: string) =>
      recorded.events.filter((event) => event.args[0]?.id === id).map(({ name, args }) => `${name} ${args[0].attempt}`)
    expect(about('1')).toEqual(['started 1', 'retried 1', 'started 2', 'finished 2'])
    expect(about('2')).toEqual(['started 1', 'retried 1', 'started 2', 'failed 2'])
    for (const event of recorded.of('started'))
      expect(event).toEqual({ schema: 'tasks', table: 'told', id: expect.any(String), attempt: expect.any(Number) })
  })

  it('are for once and on of node:events too', async () => {
    await createTaskType(database.pool, 'for_node')
    const recorded = newWorker({ connectionString: database.url }, [taskOf('for_node'), 1])
    const emitter = recorded.worker as unknown as EventEmitter
    const ready = once(emitter, 'ready')
    const running = recorded.worker.run()
    expect(await ready).toEqual([])
    const finished = once(emitter, 'finished')
    await insertTasks(database.pool, 'for_node')
    expect(await finished).toEqual([expect.objectContaining({ table: 'for_node', id: '1' })])
    await recorded.worker.stop()
    await running
  })

  it('reach a listener no more that was taken off', async () => {
    await createTaskType(database.pool, 'taken_off')
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('taken_off'), 1])
    const [stays, goes, one] = [vi.fn(), vi.fn(), vi.fn()]
    recorded.worker.on('finished', goes).on('finished', stays).once('finished', one).off('finished', goes)
    await insertTasks(database.pool, 'taken_off', 2)
    await recorded.seen('finished', { count: 2 })
    expect([stays.mock.calls.length, goes.mock.calls.length, one.mock.calls.length]).toEqual([2, 0, 1])
  })
})

describe('a listener that throws', () => {
  it('or rejects, harms neither the task, nor other listeners, nor the worker', async () => {
    await createTaskType(database.pool, 'throwing_listener')
    const recorded = newWorker({ connectionString: database.url }, [taskOf('throwing_listener'), 1])
    for (const event of ['ready', 'listening', 'acquired', 'started', 'finished', 'stopping', 'stopped'] as const) {
      recorded.worker.on(event, () => {
        throw new Error(`listener of ${event}`)
      })
      recorded.worker.on(event, () => Promise.reject(new Error('later')))
    }
    const heard = vi.fn()
    recorded.worker.on('finished', heard)
    recorded.running = recorded.worker.run()
    await insertTasks(database.pool, 'throwing_listener', 3)
    await waitFor(() => heard.mock.calls.length === 3)
    await recorded.worker.stop()
    await recorded.running
    const lines = recorded.lines.filter((line) => line.message === 'A listener of the worker threw')
    expect(new Set(lines.map((line) => line.fields.event))).toEqual(
      new Set(['ready', 'listening', 'acquired', 'started', 'finished', 'stopping', 'stopped']),
    )
  })
})

describe('a logger that throws', () => {
  it('harms nothing either', async () => {
    await createTaskType(database.pool, 'throwing_logger', { backoffBase: '10 ms', maxRetries: 0 })
    const shout = () => {
      throw new Error('no paper')
    }
    const recorded = await startWorker(
      { connectionString: database.url, logger: { debug: shout, info: shout, warn: shout, error: shout } },
      [
        taskOf('throwing_logger', async () => {
          throw new Error('fails')
        }),
        1,
      ],
    )
    await insertTasks(database.pool, 'throwing_logger', 2)
    await recorded.seen('failed', { count: 2 })
  })
})

// B-69
describe('what is secret', () => {
  it('is in no line, event, error or stored text: neither payload nor password nor connection string', async () => {
    await createTaskType(database.pool, 'secrets', { columns: 'card text unique', backoffBase: '10 ms', maxRetries: 2 })
    await database.pool.query(`insert into tasks.secrets (card) values ('4111-1111'), ('4222-2222')`)
    const role = await database.createRole('secret')
    await database.pool.query(`
      grant usage on schema tasks to ${role.name}; grant all on all tables in schema tasks to ${role.name}; grant execute on all functions in schema tasks to ${role.name}`)
    const password = new URL(role.url).password
    let tries = 0
    const task = taskOf('secrets', async ({ id }) => {
      tries += 1
      // The driver's error quotes the row in its detail.
      if (id === '1') await database.pool.query(`insert into tasks.secrets (card) values ('4222-2222')`)
      else throw new Error(`can't connect to ${role.url}`)
    })
    const recorded = await startWorker({ connectionString: role.url }, [task, 1])
    await recorded.seen('failed', { count: 2 })
    await database.pool.query(`alter role ${role.name} password 'another'`)
    await database.pool.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename = $1`, [role.name])
    await recorded.seen('error', { count: 1 })
    await recorded.seen('not_listening')
    expect(tries).toBe(6)
    const { rows } = await database.pool.query(`select last_error, comment from tasks.secrets`)
    const errors = recorded.events.filter(({ name }) => name === 'error' || name === 'not_listening')
    const told = inspect([recorded.lines, errors, rows, recorded.worker.health()], { depth: 10, maxStringLength: null })
    const asJson = JSON.stringify([recorded.lines, rows, errors])
    for (const secret of [`:${password}@`, role.url, '4111-1111', '4222-2222']) {
      expect(told).not.toContain(secret)
      expect(asJson).not.toContain(secret)
    }
    await recorded.worker.stop({ timeoutMs: 0 })
  })
})
