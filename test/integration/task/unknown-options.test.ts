import { createGroup, InvalidOptionError, limitKeys, limitRate, RetryTask, Task, uniqueWhile } from '@pg-tasks/client'
import { register } from '@pg-tasks/sql'
import { beforeAll, describe, expect, it } from 'vitest'
import { createTaskType, insertTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'

class Careless extends Task {
  override async run(): Promise<void> {}
}

const task = new Careless()
let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
  await createTaskType(database.pool, 'careless')
})

/** What JavaScript lets through, and TypeScript where an object was made elsewhere. */
function mistaken(option: string): never {
  return { [option]: 5 } as never
}

describe('an option that does not exist is refused, with the one that was meant:', () => {
  it.each<[string, string, string, () => unknown]>([
    ['enqueue', 'delay', 'delayMs', () => task.enqueue(database.pool, {}, mistaken('delay'))],
    ['enqueue', 'onConflit', 'onConflict', () => task.enqueueMany(database.pool, [{}], mistaken('onConflit'))],
    ['enqueue', 'delayMS', 'delayMs', () => task.enqueueUnique(database.pool, [{}], mistaken('delayMS'))],
    ['finish', 'coment', 'comment', () => task.finish(database.pool, '1', mistaken('coment'))],
    ['retry', 'delay', 'delayMs', () => task.retry(database.pool, '1', mistaken('delay'))],
    ['cancel', 'coment', 'comment', () => task.cancel(database.pool, '1', mistaken('coment'))],
    ['reset', 'forgetMark', 'forgetMarks', () => task.reset(database.pool, '1', mistaken('forgetMark'))],
    ['clean', 'olderThan', 'olderThanMs', () => task.clean(database.pool, mistaken('olderThan'))],
    ['failed', 'limits', 'limit', () => task.failed(database.pool, mistaken('limits'))],
    ['resetFailed', 'wher', 'where', () => task.resetFailed(database.pool, mistaken('wher'))],
    ['limitRate', 'brust', 'burst', () => limitRate(database.pool, task, mistaken('brust'))],
    ['limitKeys', 'concurency', 'concurrency', () => limitKeys(database.pool, task, mistaken('concurency'))],
    ['uniqueWhile', 'column', 'columns', () => uniqueWhile(database.pool, task, mistaken('column'))],
    ['createGroup', 'polcy', 'policy', () => createGroup(database.pool, 'k', task, {}, mistaken('polcy'))],
    ['RetryTask', 'delay', 'delayMs', async () => new RetryTask(mistaken('delay'))],
  ])('%s: %s', async (owner, option, meant, call) => {
    const error = await Promise.resolve(call()).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(InvalidOptionError)
    expect(error).toMatchObject({
      code: 'INVALID_OPTION',
      message: `${owner}: option "${option}" is unknown. Did you mean "${meant}"?`,
    })
  })

  it.each<[string, unknown]>([
    ['60000', 60_000],
    ['null', null],
    ['a string', 'ignore'],
  ])('and so is %s in place of options', async (named, given) => {
    await expect(task.enqueue(database.pool, {}, given as never)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(`^enqueue: option "options" must be an object, not ${named}`),
    })
  })

  it('register: maxRetry', async () => {
    await expect(register(database.pool, 'tasks', 'careless', mistaken('maxRetry'))).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(
        /^register: option maxRetry is unknown: there are timeout, maxRetries, .* and runLimit\.$/,
      ),
    })
  })
})

it('nothing is done where an option is refused', async () => {
  const [id] = await insertTasks(database.pool, 'careless')
  await database.pool.query(`update tasks.careless set failed_at = now(), failure_reason = 'error' where id = $1`, [id])
  await expect(task.resetFailed(database.pool, mistaken('wher'))).rejects.toThrow(/Did you mean "where"/)
  expect(await task.failed(database.pool)).toHaveLength(1)
})
