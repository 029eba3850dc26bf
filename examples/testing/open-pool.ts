import { register } from '@pg-tasks/sql'
import { Pool } from 'pg'

/** A pool on the database of `DATABASE_URL`, which is migrated, with the tables of the example. */
export async function openPool(): Promise<Pool> {
  const pool = new Pool({ connectionString: process.env.DATABASE_URL })
  await pool.query(`
    create table if not exists users (email text primary key);
    create table if not exists welcomed (email text primary key);
    create table if not exists tasks.send_welcome (
      like tasks.template including defaults including identity including indexes, email text not null)`)
  await register(pool, 'tasks', 'send_welcome')
  return pool
}
