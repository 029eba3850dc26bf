import { beforeAll, describe, expect, it } from 'vitest'
import { createTaskType } from '../integration/sql/create-task-type.js'
import { moveClock } from '../integration/sql/move-clock.js'
import { rowsOf, scalarOf } from '../integration/sql/rows-of.js'
import { createDatabase } from '../support/test-database.js'

const database = await createDatabase()
const session = await database.client()
const worker = '44444444-4444-4444-8444-444444444444'

beforeAll(() => createTaskType(session, 'mail', { settings: "timeout => '1 day'" }))

// B-61. In Berlin clocks are set forward on 2024-03-31 at two: a calendar day from the noon before has 23 hours.
describe.each(['Europe/Berlin', 'UTC', 'America/Los_Angeles'])('a lease of a day, in a session at %s', (zone) => {
  it('is 24 hours long, with a worker and without', async () => {
    await session.query("select set_config('TimeZone', $1, false)", [zone])
    const back = await scalarOf<string>(session, "select extract(epoch from '2024-03-30 12:00:00+00' - now())::text")
    await moveClock(session, `${back} s`)
    await session.query('truncate tasks.mail; truncate tasks.leases')
    await session.query("insert into tasks.mail (planned_to) values ('2024-01-01'), ('2024-01-01')")
    await session.query('select from tasks.acquire_tasks_mail(1)')
    await session.query('select from tasks.acquire_tasks_mail(1, $1)', [worker])
    expect(
      await rowsOf(
        session,
        `select extract(epoch from run_until - started_at)::float8 / 3600 as hours from tasks.mail where run_until is not null
         union all
         select extract(epoch from l.leased_until - t.started_at)::float8 / 3600 from tasks.leases l join tasks.mail t on t.run_worker = l.worker_id`,
      ),
    ).toEqual([{ hours: expect.closeTo(24, 3) }, { hours: expect.closeTo(24, 3) }])
    expect(await scalarOf(session, 'select tasks.rescue_tasks_mail()')).toBe('0')
  })
})
