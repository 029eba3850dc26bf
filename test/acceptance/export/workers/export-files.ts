import { Worker } from '@pg-tasks/client'
import { ExportOrders } from '../export-orders.js'

const { DATABASE_URL = '', STOP_AT = '' } = process.env

/** Tells the test that a point is reached where it kills this process. */
async function reach(point: string): Promise<void> {
  if (point !== STOP_AT) return
  process.send?.(point)
  await new Promise(() => {})
}

const worker = new Worker({ connectionString: DATABASE_URL, pollIntervalMs: 500 })
worker.add(new ExportOrders(reach))
worker.on('finished', () => void reach('after the finish'))
await worker.run()
