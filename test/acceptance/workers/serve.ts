import { type Claimed, inTransaction, Task, type TaskContext, Worker } from '@pg-tasks/client'
import { Pool } from 'pg'

type Order = Claimed<{ what: string }>

const {
  DATABASE_URL: connectionString,
  TABLE: table = 'orders',
  CONCURRENCY = '1',
  STOP_TIMEOUT_MS,
  BATCH_SIZE,
} = process.env
const pool = new Pool({ connectionString, max: Number(CONCURRENCY) + 1 })
pool.on('error', () => {})

const say = (what: string, task: Order): void => console.log(`${what} ${task.id} ${task.execution_count}`)

/** Waits, heeding the signal. */
function nap(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}

/** Holds up the whole process. */
function spin(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

/** What an order does stands in its row: `quick`, `nothing`, `sleep 500`, `spin 3000`, `deaf 3000`, `abort`. */
class Orders extends Task<{ what: string }> {
  override async run(task: Order, { signal }: TaskContext): Promise<void> {
    if (task.what === 'nothing') return
    say('started', task)
    signal.addEventListener('abort', () =>
      say(`aborted(${(signal.reason as { reason?: string }).reason ?? signal.reason.code})`, task),
    )
    const [what, ms] = task.what.split(' ')
    if (what === 'sleep') await nap(Number(ms), signal)
    if (what === 'spin') spin(Number(ms))
    if (what === 'deaf') await new Promise((resolve) => setTimeout(resolve, Number(ms)))
    if (what === 'abort') process.abort()
    try {
      await inTransaction(pool, async (tx) => {
        await tx.query('insert into effects (of, task_id, pid) values ($1, $2, $3)', [table, task.id, process.pid])
        if (what === 'dies_in_transaction' && task.execution_count === 1) process.kill(process.pid, 'SIGKILL')
        await this.finish(tx, task)
      })
      say('done', task)
    } catch (error) {
      say(`refused(${(error as { code?: string }).code})`, task)
      throw error
    }
  }
}

const worker = new Worker({
  connectionString: connectionString as string,
  pollIntervalMs: 60_000,
  ...(STOP_TIMEOUT_MS === undefined ? {} : { stopTimeoutMs: Number(STOP_TIMEOUT_MS) }),
  ...(BATCH_SIZE === undefined ? {} : { batchSize: Number(BATCH_SIZE) }),
})
worker.add(new Orders({ table }), Number(CONCURRENCY))
worker.on('ready', () => console.log('ready'))
worker.on('lost', ({ id, reason }) => console.log(`lost(${reason}) ${id}`))
worker.on('released', ({ id }) => console.log(`released ${id}`))
worker.on('rescued', ({ count }) => console.log(`rescued ${count}`))
process.on('message', (message) => {
  if (message === 'stop') void worker.stop()
})
await worker.run()
console.log(`stopped ${Date.now()}`)
await pool.end()
process.disconnect?.()
