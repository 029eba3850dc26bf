import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Claimed, Task, type TaskContext, Worker } from '@pg-tasks/client'
import { Client } from 'pg'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const { DATABASE_URL } = process.env
const client = new Client({ connectionString: DATABASE_URL as string })
await client.connect()

class Measured extends Task {
  override async run(task: Claimed, { signal }: TaskContext): Promise<void> {
    if (Number(task.id) % 10 === 0) signal.addEventListener('abort', () => {})
    if (Number(task.id) % 100 === 0) throw new Error('now and then')
  }
}

const worker = new Worker({ connectionString: DATABASE_URL as string, pollIntervalMs: 10 })
let finished = 0
worker.on('finished', () => {
  finished += 1
})
worker.add(new Measured(), 10)
const running = worker.run()

async function measure(): Promise<{ heap: number; timers: number; sockets: number }> {
  await delay(300)
  collectGarbage()
  const resources = process.getActiveResourcesInfo()
  const count = (type: string) => resources.filter((one) => one === type).length
  return {
    heap: process.memoryUsage().heapUsed,
    timers: count('Timeout'),
    sockets: count('TCPSocketWrap') + count('TCPWRAP'),
  }
}

async function runTasks(count: number): Promise<void> {
  const end = finished + count * 0.98
  await client.query('insert into tasks.measured (trace_id) select null from generate_series(1, $1)', [count])
  while (finished < end) await delay(10)
}

await runTasks(5_000)
await delay(500)
const before = await measure()
await runTasks(20_000)
// Polls a hundred times a second.
await delay(1_500)
const after = await measure()
process.send?.({ before, after })
await worker.stop()
await running
await client.end()
process.disconnect?.()
