import type { Queryable } from '../connection.js'

/** From now on every commit that enqueues a task of this type notifies. Held by the session. */
export async function fallAsleep(connection: Queryable, tableId: string): Promise<void> {
  await connection.query('select tasks.fall_asleep($1::oid)', [tableId])
}

/** Takes {@link fallAsleep} back. */
export async function wakeUp(connection: Queryable, tableId: string): Promise<void> {
  await connection.query('select tasks.wake_up($1::oid)', [tableId])
}

/** Whether no transaction that enqueued before this session fell asleep is still open. */
export async function nothingInFlight(connection: Queryable, tableId: string): Promise<boolean> {
  const result = await connection.query('select tasks.nothing_in_flight($1::oid) as nothing', [tableId])
  return (result.rows[0] as { nothing: boolean }).nothing
}

/** Promises to look again without being told; true if this session holds the promise now. */
export async function stayAwake(connection: Queryable, tableId: string): Promise<boolean> {
  const result = await connection.query('select tasks.stay_awake($1::oid) as awake', [tableId])
  return (result.rows[0] as { awake: boolean }).awake
}

/** Takes {@link stayAwake} back. */
export async function stopAwake(connection: Queryable, tableId: string): Promise<void> {
  await connection.query('select tasks.stop_awake($1::oid)', [tableId])
}
