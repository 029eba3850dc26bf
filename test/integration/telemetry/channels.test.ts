import { channel } from 'node:diagnostics_channel'
import type { AcquireMessage, EnqueueMessage, RunMessage, WorkerMessage } from '@pg-tasks/client'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createTaskType, insertTasks, readTask } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { newWorker, taskOf } from '../worker/start-worker.js'

let database: TestDatabase
const undo: Array<() => void> = []

beforeAll(async () => {
  database = await createDatabase()
})

afterEach(() => {
  for (const one of undo.splice(0)) one()
})

function hear(name: string, listener: (message: unknown) => void): void {
  channel(name).subscribe(listener)
  undo.push(() => channel(name).unsubscribe(listener))
}

/** Subscribes to the phases of a tracing channel. */
function trace<Message>(name: string, listener: (phase: string, message: Message) => void): void {
  for (const phase of ['start', 'asyncEnd', 'error']) {
    hear(`tracing:${name}:${phase}`, (message) => listener(phase, message as Message))
  }
}

describe('the diagnostics channels', () => {
  it('tell of enqueues, and let a subscriber add columns', async () => {
    await createTaskType(database.pool, 'told_enqueue', { columns: 'note text' })
    const heard: unknown[] = []
    trace<EnqueueMessage>('pg-tasks:enqueue', (phase, message) => {
      if (phase === 'start') message.tasks = message.tasks.map((task) => ({ ...task, comment: 'added' }))
      heard.push([phase, message.table, message.result, (message.error as Error | undefined)?.message])
    })
    const task = taskOf<{ note: string }>('told_enqueue')
    const id = await task.enqueue(database.pool, { note: 'mine' })
    expect(await readTask(database.pool, 'told_enqueue', id)).toMatchObject({ note: 'mine', comment: 'added' })
    await expect(task.enqueue(database.pool, { nothing: 1 } as never)).rejects.toThrow()
    expect(heard).toEqual([
      ['start', 'told_enqueue', undefined, undefined],
      ['asyncEnd', 'told_enqueue', [id], undefined],
      ['start', 'told_enqueue', undefined, undefined],
      ['error', 'told_enqueue', undefined, expect.stringMatching(/nothing/)],
      ['asyncEnd', 'told_enqueue', undefined, expect.stringMatching(/nothing/)],
    ])
  })

  it('tell of acquires, of runs with what they threw, and of what a worker tells', async () => {
    await createTaskType(database.pool, 'told_run', { maxRetries: 0 })
    const [acquires, runs, events]: [unknown[], unknown[], unknown[]] = [[], [], []]
    trace<AcquireMessage>('pg-tasks:acquire', (phase, { table, result }) => {
      if (phase === 'asyncEnd' && Array.isArray(result) && result.length > 0) acquires.push([table, result.length])
    })
    trace<RunMessage>('pg-tasks:run', (phase, { id, attempt, error }) => {
      runs.push([phase, id, attempt, (error as Error | undefined)?.message])
    })
    for (const event of ['started', 'finished', 'failed']) {
      hear(`pg-tasks:worker:${event}`, (message) => {
        const { workerId, args } = message as WorkerMessage
        events.push([workerId, event, (args[0] as { id: string }).id])
      })
    }
    const task = taskOf('told_run', async ({ id }) => {
      if (id === '2') throw new Error('no')
    })
    const recorded = newWorker({ connectionString: database.url }, [task, 1])
    await insertTasks(database.pool, 'told_run', 2)
    recorded.running = recorded.worker.run()
    await Promise.all([recorded.seen('finished'), recorded.seen('failed')])
    await recorded.worker.stop()
    expect(acquires.reduce<number>((sum, one) => sum + ((one as [string, number])[1] ?? 0), 0)).toBe(2)
    expect(runs).toEqual([
      ['start', '1', 1, undefined],
      ['asyncEnd', '1', 1, undefined],
      ['start', '2', 1, undefined],
      ['error', '2', 1, 'no'],
      ['asyncEnd', '2', 1, 'no'],
    ])
    const { id } = recorded.worker
    for (const event of [
      ['started', '1'],
      ['finished', '1'],
      ['started', '2'],
      ['failed', '2'],
    ]) {
      expect(events).toContainEqual([id, ...event])
    }
  })
})
