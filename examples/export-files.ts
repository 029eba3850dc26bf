/**
 * An export that readers see whole or not at all: written as a draft, flushed, renamed. The first attempt dies in the middle;
 * the second removes its draft and brings the file.
 */
import { createWriteStream } from 'node:fs'
import { mkdtemp, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Claimed, Task, type TaskContext, Worker } from '@pg-tasks/client'
import { withDatabase } from './with-database.js'

type Export = { file: string }

const ROWS = 10_000

class ExportOrders extends Task<Export> {
  override async run(task: Claimed<Export>, { once, signal, attempt }: TaskContext): Promise<void> {
    await once('export', async () => {
      await removeDrafts(task.file)
      // A name of this run's own: a run that lost its task may still be writing.
      const draft = `${task.file}.${task.run_token}.part`
      await pipeline(rows(attempt), createWriteStream(draft), { signal })
      await flush(draft)
      await rename(draft, task.file)
      await flush(dirname(task.file))
    })
  }
}

async function* rows(attempt: number): AsyncGenerator<string> {
  for (let row = 1; row <= ROWS; row += 1) {
    if (row === ROWS / 2 && attempt === 1) throw new Error('the disk of the orders is gone')
    yield `${row};order ${row}\n`
  }
}

async function removeDrafts(file: string): Promise<void> {
  for (const name of await readdir(dirname(file))) {
    if (name.startsWith(`${basename(file)}.`) && name.endsWith('.part')) await rm(join(dirname(file), name))
  }
}

async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Names of the folder's files, drafts without the token. */
async function look(folder: string): Promise<string> {
  const names = (await readdir(folder)).map((name) => name.replace(/\.[0-9a-f-]{36}\.part$/, ' (a draft)'))
  return names.join(', ')
}

await withDatabase(async ({ connectionString, pool }) => {
  await pool.query(`
    create table tasks.export_orders (
      like tasks.template including defaults including identity including indexes,
      file text not null
    );
    select tasks.register('tasks', 'export_orders', backoff_base => '1 hour');
  `)
  const folder = await mkdtemp(join(tmpdir(), 'pg-tasks-export-'))
  const file = join(folder, 'orders.csv')
  const exportOrders = new ExportOrders()
  const worker = new Worker({ connectionString })
  worker.add(exportOrders)
  worker.on('retried', ({ attempt }) => console.log(`attempt ${attempt} failed`))
  const looked = new Promise<void>((resolve) => {
    worker.once('retried', () => {
      void look(folder).then((names) => {
        console.log(`in the folder: ${names}`)
        resolve()
      })
    })
  })
  const finished = new Promise((resolve) => worker.once('finished', resolve))
  const running = worker.run()
  const id = await exportOrders.enqueue(pool, { file })
  await looked
  // Not in an hour: now.
  await pool.query('update tasks.export_orders set planned_to = now() where id = $1', [id])
  await finished
  await worker.stop()
  await running

  console.log(`in the folder: ${await look(folder)}`)
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
  console.log(`${lines.length} lines, the last: ${lines.at(-1)}`)
  await rm(folder, { recursive: true })
})

// Output:
// attempt 1 failed
// in the folder: orders.csv (a draft)
// in the folder: orders.csv
// 10000 lines, the last: 10000;order 10000
