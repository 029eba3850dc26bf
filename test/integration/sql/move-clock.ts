import type { ClientBase, Pool } from 'pg'

/** From now on the database's clock is ahead by this interval (`'0'`: right again). For the whole database of the test. */
export async function moveClock(connection: ClientBase | Pool, interval: string): Promise<void> {
  await connection.query(
    `create or replace function tasks.clock() returns pg_catalog.timestamptz language sql volatile
     as $$ select pg_catalog.clock_timestamp() + interval '${interval}' $$`,
  )
}
