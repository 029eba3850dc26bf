import { beforeAll, describe, expect, it } from 'vitest'
import { runOnNode22 } from '../../support/run-on-node-22.js'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase } from '../../support/test-database.js'
import { loadScript, moveUnderRunningWorkers, TASKS_TO_MOVE } from './move.js'

const TIMEOUT_MS = 120_000
const PROGRAM = new URL('./workers/graphile-worker.ts', import.meta.url)
const MOVE = `select moved::integer, running::integer, used_up::integer
  from pg_temp.move_from_graphile_worker('send_mail', 'tasks.send_mail', $1, $2)`
const COLUMNS = `select recipient, subject, job_key, queue_name, priority, execution_count, last_error, planned_to > now() + interval '30 minutes' as later
  from tasks.send_mail order by priority, id`

describe('the script that moves tasks over from graphile-worker', { timeout: TIMEOUT_MS }, () => {
  describe('with tasks in every state', async () => {
    const database = await createDatabase()
    const client = await database.client()

    beforeAll(async () => {
      const columns = 'recipient bigint not null, subject text, job_key text, queue_name text'
      await createTaskType(database.pool, 'send_mail', { columns })
      await runOnNode22(PROGRAM, ['fill'], { DATABASE_URL: database.url })
      await loadScript(client, 'graphile-worker')
    }, TIMEOUT_MS)

    it('moves what waits, with renamed keys, and leaves what runs, is used up or is of another kind', async () => {
      await expect(client.query(MOVE, [{}, null])).rejects.toThrow('no columns for these keys of a payload: userId')
      const { rows } = await client.query(MOVE, [{ userId: 'recipient' }, null])
      expect(rows).toEqual([{ moved: 5, running: 1, used_up: 1 }])
      const row = { job_key: null, queue_name: null, last_error: null, execution_count: 0, later: false }
      expect((await client.query(COLUMNS)).rows).toEqual([
        { ...row, recipient: '4', subject: 'urgent', job_key: 'four', queue_name: 'slow', priority: 0 },
        { ...row, recipient: '3', subject: 'plain', priority: 1 },
        {
          ...row,
          recipient: '1',
          subject: 'failed once',
          priority: 1,
          execution_count: 1,
          last_error: expect.stringContaining('mail server is down'),
        },
        { ...row, recipient: '6', subject: 'later', priority: 1, later: true },
        { ...row, recipient: '5', subject: 'unimportant', priority: 2 },
      ])
      const left = await client.query(
        `select payload->>'subject' as subject from graphile_worker._private_jobs order by id`,
      )
      expect(left.rows.map(({ subject }) => subject)).toEqual(['used up', 'running', null])
    })

    it('leaves out keys that are renamed to null', async () => {
      await client.query(`select graphile_worker.add_job('send_mail', '{"userId": 10, "debug": true}')`)
      const { rows } = await client.query(MOVE, [{ userId: 'recipient', debug: null }, null])
      expect(rows).toEqual([{ moved: 1, running: 1, used_up: 1 }])
    })
  })

  it('moves under running workers: each task is done once, by one or the other', async () => {
    const done = await moveUnderRunningWorkers('graphile-worker', PROGRAM, MOVE)
    expect(done).toEqual({ count: TASKS_TO_MOVE, numbers: TASKS_TO_MOVE })
  })
})
