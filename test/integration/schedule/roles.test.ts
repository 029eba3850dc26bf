import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTaskType } from '../../support/task-type.js'
import { waitFor } from '../../support/wait-for.js'
import { refusalOf } from '../sql/refusal-of.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'
import { newWorker } from '../worker/start-worker.js'
import { Scheduling, tick } from './scheduling.js'

let scheduling: Scheduling
let workerRole: { name: string; url: string }
let operatorRole: { name: string; url: string }
let readerRole: { name: string; url: string }

/** A second task type, to which the roles have no right. */
beforeAll(async () => {
  scheduling = await Scheduling.create()
  await createTaskType(scheduling.pool, 'secret')
  ;[workerRole, operatorRole, readerRole] = (await Promise.all(
    ['worker', 'operator', 'reader'].map((kind) => scheduling.database.createRole(kind)),
  )) as [typeof workerRole, typeof operatorRole, typeof readerRole]
  for (const [role, kind] of [
    [workerRole, 'worker'],
    [operatorRole, 'operator'],
    [readerRole, 'reader'],
  ] as const) {
    await scheduling.pool.query('select tasks.grant_to($1, $2, $3, $4)', [role.name, kind, 'tasks', 'tick'])
    await scheduling.pool.query(`grant select on test_clock to ${role.name}`)
  }
})

beforeEach(async () => {
  await scheduling.clear()
  await scheduling.stopClockAt('2027-01-01T09:59:30Z')
  await scheduling.pool.query(
    `select tasks.schedule('secret', 'tasks', 'secret', every => '1 s'), tasks.schedule('secret cron', 'tasks', 'secret', cron => '* * * * *')`,
  )
})

/** A session of the role, closed with the database. */
async function as(role: { name: string }, statement: string) {
  const client = await scheduling.database.client()
  await client.query(`set role ${role.name}`)
  return client.query(statement).finally(() => client.end())
}

describe('a worker with the rights for one task type', () => {
  it('sees to the schedules of that type, writes its own, and leaves the others to others', async () => {
    const recorded = newWorker({ connectionString: workerRole.url })
    recorded.worker.schedule(tick, { key: 'tick', cron: '* * * * *' }, { note: '' })
    recorded.running = recorded.worker.run()
    await recorded.seen('ready')
    await scheduling.stopClockAt('2027-01-01T10:00:00Z')
    await scheduling.wake()
    await waitFor(async () => (await scheduling.enqueued('tick')).length === 1)
    expect(await scheduling.row('secret')).toMatchObject({ state: 'active', runs: '0', last_error: null })
    expect(await scheduling.row('secret cron')).toMatchObject({ state: 'unplanned' })
    expect(recorded.lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])

    // For it there is nothing to do, so it sleeps.
    expect((await as(workerRole, 'select tasks.next_schedule_in()')).rows[0]).toEqual({ next_schedule_in: 60_000 })
    expect((await as(workerRole, 'select * from tasks.due_schedules()')).rows).toEqual([])
  })

  it.each([
    `update tasks.schedules set paused_at = now()`,
    `delete from tasks.schedules`,
    `select tasks.unschedule('secret')`,
  ])('can not touch the schedules of others: %s', async (statement) => {
    await as(workerRole, statement)
    expect(await rowsOf(scheduling.pool, 'select key from tasks.schedules where paused_at is null order by 1')).toEqual(
      [{ key: 'secret' }, { key: 'secret cron' }],
    )
  })

  it('can not have tasks of another type enqueued', async () => {
    const written = as(workerRole, `select tasks.schedule('mine', 'tasks', 'secret', every => '1 s')`)
    expect(await refusalOf(written)).toMatchObject({ code: '42501' })
    await scheduling.schedule({ cron: '* * * * *' })
    const moved = as(workerRole, `update tasks.schedules set table_id = 'tasks.secret' where key = 'tick'`)
    expect(await refusalOf(moved)).toMatchObject({ code: '42501' })
  })
})

describe('an operator of one task type', () => {
  it('writes, pauses, resumes, triggers, backfills and removes its schedules', async () => {
    await as(
      operatorRole,
      `select tasks.schedule('tick', 'tasks', 'tick', every => '1 min', columns => '{"note": ""}')`,
    )
    await as(operatorRole, `select tasks.pause_schedule('tick')`)
    await as(operatorRole, `select tasks.resume_schedule('tick')`)
    await as(operatorRole, `select tasks.trigger_schedule('tick')`)
    await as(operatorRole, `select tasks.backfill_schedule('tick', '{2027-01-01 09:00+00}')`)
    expect(await scalarOf(scheduling.pool, 'select count(*)::int from tasks.tick')).toBe(2)
    await as(operatorRole, `select tasks.unschedule('tick')`)
    expect(await scheduling.row('tick')).toBeUndefined()
  })
})

describe('a reader of one task type', () => {
  it('sees its schedules and changes nothing', async () => {
    await scheduling.schedule({ cron: '* * * * *' })
    expect((await as(readerRole, 'select key from tasks.schedules')).rows).toEqual([{ key: 'tick' }])
    expect((await as(readerRole, 'select state from tasks.schedule_stats')).rows).not.toEqual([])
    expect(await refusalOf(as(readerRole, `select tasks.pause_schedule('tick')`))).toMatchObject({ code: '42501' })
  })
})
