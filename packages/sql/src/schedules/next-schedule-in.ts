import type { Queryable } from '../connection.js'

/** Milliseconds until a schedule is due; 0 where one is unplanned; null where there is none. */
export async function nextScheduleIn(connection: Queryable): Promise<number | null> {
  const result = await connection.query('select tasks.next_schedule_in() as "inMs"')
  return (result.rows[0] as { inMs: number | null }).inMs
}
