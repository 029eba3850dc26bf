import { type Claimed, RetryTask, Task, type TaskContext, Worker } from '@pg-tasks/client'
import { Client } from 'pg'
import { shiftClock } from '../../chaos/workers/shift-clock.js'

const { DATABASE_URL, SHIFT_MS, LEASE_MS } = process.env
shiftClock(Number(SHIFT_MS))
const connectionString = DATABASE_URL as string

type Timed = { what: string; shift: string }

/** `waits` is delayed by its enqueuer, `retries` by its handler; `long` takes more than a lease. */
class TimedTask extends Task<Timed> {
  override async run(task: Claimed<Timed>, { attempt }: TaskContext): Promise<void> {
    if (task.what === 'retries' && attempt === 1) throw new RetryTask({ delayMs: 1_500 })
    if (task.what === 'long') await new Promise((resolve) => setTimeout(resolve, 2.5 * Number(LEASE_MS)))
  }
}

const timed = new TimedTask({ table: 'timed' })
const client = new Client({ connectionString })
await client.connect()
const worker = new Worker({ connectionString })
worker.add(timed, 4)
worker.on('ready', async () => {
  const shift = SHIFT_MS as string
  await timed.enqueue(client, { what: 'waits', shift }, { delayMs: 1_500 })
  await timed.enqueueMany(client, [
    { what: 'retries', shift },
    { what: 'long', shift },
  ])
  console.log(`enqueued at ${new Date().toISOString()}`)
})
await worker.run()
await client.end()
process.disconnect?.()
