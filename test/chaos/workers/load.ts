import { setMaxListeners } from 'node:events'
import { HistoryWriter } from '../history.js'
import { borrow } from '../load/borrow.js'
import { commitLate } from '../load/commit-late.js'
import { enqueueShortly, enqueueSlowly } from '../load/enqueue.js'
import { type Loader, pause } from '../load/loader.js'
import { operate } from '../load/operate.js'
import { PrimaryPool } from '../load/primary-pool.js'
import { Random } from '../random.js'
import { ChaosTask } from './chaos-task.js'
import { HandlerTools } from './handler-tools.js'
import { watchHeap } from './heap.js'
import { programOptions } from './program-options.js'

const { name, folder, seed, urls, types, load } = programOptions()
const history = new HistoryWriter(folder, name)
const pool = new PrimaryPool(urls, name, 12)
const tools = new HandlerTools(history, pool, null)
const ending = new AbortController()
// Each habit waits for it.
setMaxListeners(0, ending.signal)
let unfinished = 0

const tasks = new Map(types.map((type) => [type.table, new ChaosTask(type, tools)]))
const known: Loader['known'] = []
const loader = (stream: string): Loader => {
  const random = new Random(seed, stream)
  return { history, pool, random, types, tasks, options: load, known, signal: ending.signal }
}
const mayEnqueue = (): boolean => unfinished < load.mostUnfinished

/** Workers that are frozen or cut off don't keep up: what they don't do shall not pile up. */
async function countUnfinished(): Promise<void> {
  const open = types.map(
    ({ table }) =>
      `(select count(*) from chaos.${table} where finished_at is null and failed_at is null and not canceled)`,
  )
  while (!ending.signal.aborted) {
    try {
      const { rows } = await pool.use((client) => client.query<{ count: string }>(`select ${open.join('+')} as count`))
      unfinished = Number(rows[0]?.count)
    } catch {
      // The next look may succeed.
    }
    await pause(loader('count'), 500)
  }
}

process.on('message', () => ending.abort())
const stopWatching = watchHeap(history)
process.send?.('ready')

await Promise.all([
  countUnfinished(),
  ...Array.from({ length: load.shortTransactions }, (_, at) => enqueueShortly(loader(`short ${at}`), mayEnqueue)),
  ...Array.from({ length: load.longTransactions }, (_, at) => enqueueSlowly(loader(`long ${at}`), mayEnqueue)),
  ...types.filter(({ bursts }) => bursts).map((type) => commitLate(loader(`late ${type.table}`), type)),
  ...(load.operator ? [operate(loader('operator'))] : []),
  ...(load.borrower ? [borrow(loader('borrower'), tools)] : []),
])
await pool.end()
stopWatching()
history.close()
process.disconnect()
