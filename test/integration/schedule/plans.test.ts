import { beforeAll, describe, expect, it } from 'vitest'
import { rowsOf, scalarOf } from '../sql/rows-of.js'
import { Scheduling } from './scheduling.js'

let scheduling: Scheduling

/** 10,000 schedules of which 25 are due, 9,000 later, and the rest paused, finished or unplanned. */
beforeAll(async () => {
  scheduling = await Scheduling.create()
  await scheduling.stopClockAt('2027-01-01T00:00:00Z')
  await scheduling.pool.query(
    `insert into tasks.schedules (key, table_id, columns, cron, planned, next_at, paused_at)
     select 'tick ' || n, 'tasks.tick', '{"note": ""}', '* * * * *', n > 5,
       case when n > 500 then '2027-01-01 00:00+00'::timestamptz + make_interval(mins => n - 525) end,
       case when n > 9525 or n between 6 and 200 then now() end
     from generate_series(1, 10000) n;
     analyze tasks.schedules`,
  )
})

/** How a statement reads the schedules: whole, or so many rows by an index. */
async function readsOf(statement: string): Promise<{ rows: number; scans: number; read: number }> {
  const client = await scheduling.database.client()
  try {
    await client.query('begin')
    const rows = await rowsOf(client, statement)
    const [reads] = await rowsOf<{ scans: number; read: number }>(
      client,
      `select seq_scan::int as scans, (
         select sum(pg_stat_get_xact_tuples_returned(i.indexrelid))::int from pg_index i where i.indrelid = relid) as read
       from pg_stat_xact_user_tables where relid = 'tasks.schedules'::regclass`,
    )
    await client.query('rollback')
    return { rows: rows.length, scans: Number(reads?.scans), read: Number(reads?.read) }
  } finally {
    await client.end()
  }
}

describe('with ten thousand schedules', () => {
  it.each([
    { statement: 'select * from tasks.due_schedules(60)', rows: 30, most: 40 },
    { statement: `select * from tasks.due_schedules(60, array['tick 501', 'tick 1'])`, rows: 28, most: 40 },
    { statement: 'select * from tasks.due_schedules(10)', rows: 15, most: 20 },
    { statement: 'select tasks.next_schedule_in()', rows: 1, most: 5 },
  ])('$statement reads what it needs', async ({ statement, rows, most }) => {
    const reads = await readsOf(statement)
    expect(reads).toMatchObject({ rows, scans: 0 })
    expect(reads.read).toBeLessThanOrEqual(most)
  })

  it('the next instant is one step in an index when none is unplanned', async () => {
    await scheduling.pool.query('update tasks.schedules set planned = true where not planned')
    const reads = await readsOf('select tasks.next_schedule_in()')
    expect(reads).toMatchObject({ scans: 0 })
    expect(reads.read).toBeLessThanOrEqual(10)
    expect(await scalarOf(scheduling.pool, 'select tasks.next_schedule_in()')).toBe(0)
  })
})
