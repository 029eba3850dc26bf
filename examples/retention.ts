/**
 * Retention by itself: a worker deletes what is past its storage_time, passes by what a foreign key holds, and says so. The same
 * from psql or pg_cron.
 */
import { Task, Worker } from '@pg-tasks/client'
import { withDatabase } from './with-database.js'

class SendInvoice extends Task<{ order_id: number }> {
  override async run(): Promise<void> {}
}

await withDatabase(async ({ connectionString, pool }) => {
  await pool.query(`
    create table tasks.send_invoice (
      like tasks.template including defaults including identity including indexes,
      order_id integer not null
    );
    select tasks.register('tasks', 'send_invoice', storage_time => '30 days');
    create table protocol (task_id bigint references tasks.send_invoice);
    create index on protocol (task_id);

    insert into tasks.send_invoice (order_id, started_at, finished_at)
    select n, now() - interval '31 days', now() - interval '31 days' from generate_series(1, 1500) n;
    insert into tasks.send_invoice (order_id, started_at, finished_at) values (1501, now(), now());
    insert into protocol select id from tasks.send_invoice where order_id in (7, 8, 9);
  `)
  const worker = new Worker({ connectionString, maintenanceIntervalMs: 200 })
  worker.add(new SendInvoice())
  const done = new Promise<void>((resolve) => {
    worker.on('cleaned', ({ what, deleted, kept, reason }) => {
      console.log(`${what}: ${deleted} deleted, ${kept} kept`)
      if (reason === null) return
      console.log(/violates foreign key constraint.*/.exec(reason)?.[0])
      resolve()
    })
  })
  const running = worker.run()
  await done
  await worker.stop()
  await running

  await pool.query('delete from protocol')
  const { rows: maintained } = await pool.query('select what, deleted, kept from tasks.maintain()')
  for (const { what, deleted, kept } of maintained) console.log(`by hand: ${what}, ${deleted} deleted, ${kept} kept`)
  const { rows } = await pool.query('select order_id from tasks.send_invoice')
  console.log(`left: ${rows.map(({ order_id }) => order_id).join(', ')}`)
})

// Output:
// tasks.send_invoice: 1000 deleted, 0 kept
// tasks.send_invoice: 497 deleted, 3 kept
// violates foreign key constraint "protocol_task_id_fkey" on table "protocol"
// by hand: tasks.send_invoice, 3 deleted, 0 kept
// left: 1501
