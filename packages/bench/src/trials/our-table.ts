import type { Client } from 'pg'

/** Length of the lease of the type under measurement. */
export async function configureTimeout(client: Client, seconds: number): Promise<void> {
  await client.query(`select tasks.configure('tasks', 'noop', 'timeout', $1) as bench_configure`, [`${seconds} s`])
}

/** Rows written so far in the user's table and in that of the leases. */
export async function tableWrites(client: Client): Promise<{ readonly tasks: number; readonly leases: number }> {
  // Sessions report their counts within a second.
  await client.query('select pg_sleep(1.2) as bench_wait')
  const { rows } = await client.query(
    `select relname as name, (n_tup_ins + n_tup_upd + n_tup_del)::float8 as writes
     from pg_stat_user_tables where schemaname = 'tasks' and relname in ('noop', 'leases')`,
  )
  const writes = new Map<string, number>(rows.map((row) => [row.name, row.writes]))
  return { tasks: writes.get('noop') ?? 0, leases: writes.get('leases') ?? 0 }
}

/** Sizes in megabytes of the table and of its indexes. */
export async function tableSizes(client: Client): Promise<{ readonly heap: number; readonly indexes: number }> {
  const { rows } = await client.query(
    `select (pg_table_size('tasks.noop') / 1048576.0)::float8 as heap, (pg_indexes_size('tasks.noop') / 1048576.0)::float8 as indexes`,
  )
  return rows[0]
}

/** Nineteen more columns, four more indexes and some 2 kB a row, as users' tables have them. */
export async function widen(client: Client): Promise<void> {
  const numbers = Array.from({ length: 9 }, (_, index) => `add column n${index + 1} bigint not null default ${index}`)
  const texts = Array.from(
    { length: 9 },
    (_, index) => `add column t${index + 1} text not null default repeat(md5(random()::text), 7)`,
  )
  // Stored plainly, so that compression doesn't make the rows narrow again.
  const plain = Array.from({ length: 9 }, (_, index) => `alter column t${index + 1} set storage plain`)
  await client.query(`alter table tasks.noop ${[...numbers, ...texts].join(', ')}`)
  await client.query(`alter table tasks.noop ${plain.join(', ')}`)
  for (const column of ['n1', 'n2', 'n3', 'mark']) await client.query(`create index on tasks.noop (${column})`)
}
