import type { Pool } from 'pg'

/** A type with columns of many kinds, one that refers to another table, and a plain one. */
export async function createSampleTypes(pool: Pool): Promise<void> {
  await pool.query(`
    create schema shop;
    create table shop.orders (id bigint primary key);
    insert into shop.orders select g from generate_series(1, 100) g;
    create type shop.channel as enum ('mail', 'post', 'fax');
    create table tasks.send_invoice (
      like tasks.template including defaults including identity including indexes,
      order_id bigint not null references shop.orders,
      email text not null,
      amount numeric(10,2),
      channel shop.channel not null default 'mail',
      urgent boolean not null default false,
      payload jsonb,
      tags text[]
    );
    create index on tasks.send_invoice (order_id);
    select tasks.register('tasks', 'send_invoice', max_retries => 1, backoff_base => '100 ms', backoff_max => '100 ms');
    select tasks.keep_history('tasks', 'send_invoice');
    create table tasks.nightly_report (
      like tasks.template including defaults including identity including indexes,
      region text not null default 'all'
    );
    select tasks.register('tasks', 'nightly_report');`)
}

/** Enqueues an invoice; returns its id. */
export async function enqueueInvoice(pool: Pool, columns: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const row = { order_id: 1, email: 'a@example.com', ...columns }
  const names = Object.keys(row)
  const { rows } = await pool.query(
    `insert into tasks.send_invoice (${names.join(', ')}) values (${names.map((_, n) => `$${n + 1}`).join(', ')}) returning id::text as id`,
    Object.values(row),
  )
  return (rows[0] as { id: string }).id
}
