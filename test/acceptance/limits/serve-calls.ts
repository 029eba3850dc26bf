import { Task, Worker } from '@pg-tasks/client'

/** A call takes a few milliseconds, and now and then fails. */
class Calls extends Task<{ key: number }> {
  override async run(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 10))
    if (Math.random() < 0.02) throw new Error('busy')
  }
}

const worker = new Worker({ connectionString: process.env.DATABASE_URL as string, pollIntervalMs: 60_000 })
worker.add(new Calls({ table: 'calls' }), 8)
worker.on('ready', () => console.log(`ready ${worker.id}`))
await worker.run()
