import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'

/** A wake-up that takes longer than this was none: only the poll, after 60 s, would find the task. */
const LONGEST_MS = 10_000

const { DATABASE_URL, TABLE, COUNT } = process.env
const client = new Client({ connectionString: DATABASE_URL as string })
await client.connect()

async function insert(count: number): Promise<string> {
  const { rows } = await client.query(
    `insert into tasks.${TABLE} (what) select 'nothing' from generate_series(1, $1) returning id`,
    [count],
  )
  return rows.at(-1).id
}

const BACKLOG = 30

/** A backlog that keeps the workers awake, so that whoever inserts meanwhile need not notify; and one that commits later. */
async function insertLate(): Promise<string> {
  await insert(BACKLOG)
  await delay(Math.random() * 10)
  await client.query('begin')
  const id = await insert(1)
  await delay(Math.random() * 20)
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
  await untilFinished(n % 2 === 0 ? await insertLate() : await insert(1))
  // From a moment before the worker has looked for the last time to one after it has fallen asleep.
  await delay(Math.random() * 10)
}
console.log('inserted')
await client.end()
process.disconnect?.()
