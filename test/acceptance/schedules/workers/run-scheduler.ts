/** A worker without task types: it only sees to schedules. With KEY and CRON or EVERY_MS it declares one, as a deploy does. */
import { Task, Worker } from '@pg-tasks/client'

class Tick extends Task<{ note: string | null }> {
  override async run(): Promise<void> {}
}

const { DATABASE_URL = '', KEY, CRON, EVERY_MS } = process.env
const worker = new Worker({ connectionString: DATABASE_URL, maintenanceIntervalMs: null })
if (KEY !== undefined) {
  worker.schedule(
    new Tick(),
    { key: KEY, ...(CRON === undefined ? { everyMs: Number(EVERY_MS) } : { cron: CRON }) },
    { note: KEY },
  )
}
worker.on('ready', () => console.log('ready'))
worker.on('schedule_refused', ({ key, error }) => console.log(`refused ${key}: ${error}`))
await worker.run()
