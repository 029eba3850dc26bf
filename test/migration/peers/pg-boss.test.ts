import { beforeAll, describe, expect, it } from 'vitest'
import { runOnNode22 } from '../../support/run-on-node-22.js'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase } from '../../support/test-database.js'
import { loadScript, moveUnderRunningWorkers, TASKS_TO_MOVE } from './move.js'

const TIMEOUT_MS = 120_000
const PROGRAM = new URL('./workers/pg-boss.ts', import.meta.url)
const MOVE = `select moved::integer, running::integer, linked::integer from pg_temp.move_from_pg_boss('send-mail', 'tasks.send_mail', $1, $2)`
const COLUMNS = `select user_id, subject, singleton_key, priority, execution_count, last_error, planned_to > now() + interval '30 minutes' as later,
  created_at < clock_timestamp() as dated from tasks.send_mail order by priority, id`

describe('the script that moves tasks over from pg-boss', { timeout: TIMEOUT_MS }, () => {
  describe('with tasks in every state', async () => {
    const database = await createDatabase()
    const client = await database.client()

    beforeAll(async () => {
      const columns =
        'user_id bigint not null, subject text not null, singleton_key text, sent boolean not null default false'
      await createTaskType(database.pool, 'send_mail', { columns })
      await runOnNode22(PROGRAM, ['fill'], { DATABASE_URL: database.url })
      await loadScript(client, 'pg-boss')
    }, TIMEOUT_MS)

    it('refuses payloads that its table has no columns for, and moves nothing', async () => {
      await client.query('alter table tasks.send_mail rename column subject to title')
      await expect(client.query(MOVE, [{}, null])).rejects.toThrow('no columns for these keys of a payload: subject')
      const { rows } = await client.query('select count(*)::integer as there from pgboss.job')
      expect(rows).toEqual([{ there: 8 }])
      await client.query('alter table tasks.send_mail rename column title to subject')
    })

    it('moves what waits, in order, with times, executions and defaults, and leaves what runs or is linked', async () => {
      expect((await client.query(MOVE, [{}, null])).rows).toEqual([{ moved: 5, running: 1, linked: 2 }])
      const row = { singleton_key: null, last_error: null, execution_count: 0, later: false, dated: true }
      expect((await client.query(COLUMNS)).rows).toEqual([
        { ...row, user_id: '4', subject: 'urgent', singleton_key: 'four', priority: 0 },
        {
          ...row,
          user_id: '1',
          subject: 'failed once',
          priority: 1,
          execution_count: 1,
          later: true,
          last_error: 'mail server is down',
        },
        { ...row, user_id: '3', subject: 'plain', priority: 1 },
        { ...row, user_id: '6', subject: 'later', priority: 1, later: true },
        { ...row, user_id: '5', subject: 'unimportant', priority: 2 },
      ])
      const left = await client.query(`select data->>'subject' as subject from pgboss.job order by 1`)
      expect(left.rows.map(({ subject }) => subject)).toEqual(['after it', 'first', 'running'])
    })

    it('moves nothing a second time', async () => {
      expect((await client.query(MOVE, [{}, null])).rows).toEqual([{ moved: 0, running: 1, linked: 2 }])
    })
  })

  it('moves under running workers: each task is done once, by one or the other', async () => {
    const done = await moveUnderRunningWorkers('pg-boss', PROGRAM, MOVE)
    expect(done).toEqual({ count: TASKS_TO_MOVE, numbers: TASKS_TO_MOVE })
  })
})
