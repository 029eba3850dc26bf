import { Worker } from '@pg-tasks/client'
import { SendLetter } from '../send-letter.js'

const { DATABASE_URL = '', SMTP_PORT = '', CONCURRENCY = '1', STOP_AT = '', LINES = '1' } = process.env

/** Tells the test that a point is reached where it wants to have this process in its hands, and waits for its word. */
async function reach(point: string): Promise<void> {
  if (point !== STOP_AT) return
  process.send?.(point)
  await new Promise((resolve) => process.once('message', resolve))
}

const tell = (_: unknown, message: string): void => console.log(message)
const silent = (): void => {}
const worker = new Worker({
  connectionString: DATABASE_URL,
  pollIntervalMs: 500,
  logger: { debug: silent, info: silent, warn: tell, error: tell },
})
worker.add(new SendLetter(Number(SMTP_PORT), reach, Number(LINES)), Number(CONCURRENCY))
worker.on('finished', () => void reach('after the finish'))
await worker.run()
