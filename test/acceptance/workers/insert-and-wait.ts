import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'

/** A wake-up that takes longer than this was none: only the poll, after 60 s, would find the task. */
const LONGEST_MS = 10_000

const { DATABASE_URL, TABLE, COUNT } = process.env
const client = new Client({ connectionString: DATABASE_URL as string })
await client.connect()

async function insert(): Promise<string> {
  const { rows } = await client.query(`insert into tasks.${TABLE} (what) values ('nothing') returning id`)
  return rows[0].id
}

/** Now and then the commit comes a while after the statement that announced it. */
async function insertSlowly(): Promise<string> {
  await client.query('begin')
  const id = await insert()
  await delay(Math.random() * 10)
  await client.query('commit')
  return id
}

async function untilFinished(id: string): Promise<void> {
  const end = performance.now() + LONGEST_MS
  for (;;) {
    const { rows } = await client.query(`select from tasks.${TABLE} where id = $1 and finished_at is not null`, [id])
    if (rows.length > 0) return
    if (performance.now() > end) throw new Error(`Task ${id} was overlooked`)
    await delay(1)
  }
}

for (let n = 0; n < Number(COUNT); n++) {
  await untilFinished(n % 4 === 0 ? await insertSlowly() : await insert())
  // From a moment before the worker has looked for the last time to one after it has fallen asleep.
  await delay(Math.random() * 12)
}
console.log('inserted')
await client.end()
process.disconnect?.()
