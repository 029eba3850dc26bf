import { Worker } from '@pg-tasks/client'
import { Pool } from 'pg'
import { CompressFile, type Folders } from './compress-file.js'

/** What the parent process gives a worker to work with, as JSON in `QUICKSTART_WORKER`. */
export interface WorkerSettings {
  readonly name: string
  readonly connectionString: string
  readonly folders: Folders
}

/** What a worker tells its parent. */
export type WorkerMessage =
  | { readonly event: 'ready'; readonly workerId: string }
  | { readonly event: 'rescued'; readonly count: number }

const CONCURRENCY = 4

/** A process that works until its parent lets go of it. */
async function main(): Promise<void> {
  const { name, connectionString, folders } = JSON.parse(process.env.QUICKSTART_WORKER ?? '') as WorkerSettings
  const pool = new Pool({ connectionString, max: CONCURRENCY, application_name: `quickstart ${name}` })
  const worker = new Worker({ connectionString, applicationName: `quickstart ${name}` })
  worker.add(new CompressFile(pool, folders, name), CONCURRENCY)
  worker.on('ready', () => tell({ event: 'ready', workerId: worker.id }))
  worker.on('rescued', ({ count }) => tell({ event: 'rescued', count }))
  // Also when the parent has died: nobody is left who would end this process.
  process.once('disconnect', () => void worker.stop())
  await worker.run()
  await pool.end()
}

function tell(message: WorkerMessage): void {
  if (process.connected) process.send?.(message)
}

await main()
