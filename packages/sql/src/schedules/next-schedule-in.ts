import type { Queryable } from '../connection.js'

/** Milliseconds until a schedule is due, but for those in `except`; 0 where one is unplanned; null where there is none. */
export async function nextScheduleIn(connection: Queryable, except: readonly string[] = []): Promise<number | null> {
  const result = await connection.query('select tasks.next_schedule_in($1::text[]) as "inMs"', [except])
  return (result.rows[0] as { inMs: number | null }).inMs
}
