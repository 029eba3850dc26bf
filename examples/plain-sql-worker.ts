/**
 * A worker that is nothing but SQL: any language with a PostgreSQL driver can serve a task type. Each task carries a lease
 * of its own, as long as the type's `timeout`; a worker that dies is not noticed by anybody, but its tasks come back.
 */
import { withDatabase } from './with-database.js'

await withDatabase(async ({ pool }) => {
  await pool.query(`
    create table tasks.square (
      like tasks.template including defaults including identity including indexes,
      number integer not null,
      result integer
    );
    select tasks.register('tasks', 'square', timeout => '30 s', max_retries => 0);
    insert into tasks.square (number) values (3), (4), (-1);
  `)

  const session = await pool.connect()
  for (;;) {
    const acquired = await session.query('select id, number, run_token from tasks.acquire_tasks_square(10)')
    if (acquired.rows.length === 0) break
    for (const { id, number, run_token } of acquired.rows) {
      try {
        if (number < 0) throw new Error('negative numbers are not for us')
        await session.query('begin')
        await session.query('update tasks.square set result = number * number where id = $1', [id])
        await session.query('select tasks.finish_tasks_square($1, run_token => $2)', [id, run_token])
        await session.query('commit')
      } catch (error) {
        await session.query('rollback')
        const text = (error as Error).message
        const retry = 'select tasks.retry_tasks_square($1, run_token => $2, error => $3) as state'
        const { rows } = await session.query(retry, [id, run_token, text])
        console.log(`${number}: ${rows[0].state}, ${text}`)
      }
    }
  }
  session.release()

  const { rows } = await pool.query('select number, result from tasks.square where finished_at is not null order by id')
  for (const { number, result } of rows) console.log(`${number}: ${result}`)
})

// Output:
// -1: failed, negative numbers are not for us
// 3: 9
// 4: 16
