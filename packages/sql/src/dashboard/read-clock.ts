import type { Queryable } from '../connection.js'

/** The instant that the database's clock shows, in milliseconds since 1970. */
export async function readClock(connection: Queryable): Promise<number> {
  const result = await connection.query(`select (1000 * extract(epoch from tasks.clock()))::double precision as now`)
  return (result.rows[0] as { now: number }).now
}
