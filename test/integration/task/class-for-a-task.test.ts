import { createGroup, limitConcurrency, schedule, Task, useGroups, Worker } from '@pg-tasks/client'
import { assertEnqueued, drain, perform } from '@pg-tasks/client/testing'
import { expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'

class SendMail extends Task {
  override async run(): Promise<void> {}
}

const { pool, url } = await createDatabase()
const worker = new Worker({ connectionString: url, handleSignals: false })

it.each<[string, (task: never) => unknown]>([
  ['worker.add', (task) => worker.add(task)],
  ['worker.remove', (task) => worker.remove(task)],
  ['worker.schedule', (task) => worker.schedule(task, { key: 'a', everyMs: 1_000 }, {})],
  ['schedule', (task) => schedule(pool, task, { key: 'a', everyMs: 1_000 }, {})],
  ['limitConcurrency', (task) => limitConcurrency(pool, task, 1)],
  ['useGroups', (task) => useGroups(pool, task)],
  ['createGroup', (task) => createGroup(pool, 'a', task, {})],
  ['drain', (task) => drain(pool, [task])],
  ['perform', (task) => perform(task, {})],
  ['assertEnqueued', (task) => assertEnqueued(pool, task)],
])('%s says that it was given a class, or nothing, for a Task', async (_name, call) => {
  const refusalOf = (task: unknown) =>
    new Promise((resolve) => resolve(call(task as never))).catch((error: unknown) => error)
  expect(await refusalOf(SendMail)).toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: 'Argument "task" must be a Task, not its class: give new SendMail(…).',
  })
  expect(await refusalOf(undefined)).toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: 'Argument "task" must be an instance of a class that extends Task, not undefined.',
  })
})
