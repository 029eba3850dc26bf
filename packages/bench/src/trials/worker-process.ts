import { Task, Worker } from '@pg-tasks/client'
import type { WorkerProcessRequest } from './processes.js'

/** The program of one of several worker processes: connects, works from "go" to "stop". */
class Noop extends Task {
  override async run(): Promise<void> {}
}

process.once('message', ({ url, tables, concurrency }: WorkerProcessRequest) => {
  const worker = new Worker({ connectionString: url, handleSignals: false })
  worker.on('error', (error) => process.stderr.write(`${String(error)}\n`))
  worker.once('ready', () => process.send?.('ready'))
  process.on('message', (word) => {
    if (word === 'go') for (const table of tables) worker.add(new Noop({ table }), concurrency)
    if (word === 'stop') void worker.stop()
  })
  void worker.run().finally(() => process.exit(0))
})
