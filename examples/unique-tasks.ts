/**
 * Unique tasks: however often a shop's prices change, one task waits to rebuild its index; what changes while it runs gets one
 * follow-up.
 */
import { type Claimed, Task, uniqueWhile, Worker } from '@pg-tasks/client'
import { withDatabase } from './with-database.js'

type Rebuild = { shop: string; reason: string }

class RebuildIndex extends Task<Rebuild> {
  onRun: (task: Claimed<Rebuild>) => Promise<void> = async () => {}

  override async run(task: Claimed<Rebuild>): Promise<void> {
    console.log(`rebuilding ${task.shop}: ${task.reason}`)
    await this.onRun(task)
  }
}

await withDatabase(async ({ connectionString, pool }) => {
  await pool.query(`
    create table tasks.rebuild_index (
      like tasks.template including defaults including identity including indexes,
      shop text not null, reason text not null
    );
    select tasks.register('tasks', 'rebuild_index');
  `)
  const rebuildIndex = new RebuildIndex()
  await uniqueWhile(pool, rebuildIndex, { columns: ['shop'] })

  const enqueue = async (reason: string, onConflict: 'ignore' | 'replace'): Promise<void> => {
    const [result] = await rebuildIndex.enqueueUnique(pool, [{ shop: 'corner', reason }], { onConflict })
    console.log(`${reason}: ${result?.outcome}`)
  }
  await enqueue('a price', 'ignore')
  await enqueue('another price', 'ignore')
  await enqueue('all prices', 'replace')

  const worker = new Worker({ connectionString })
  worker.add(rebuildIndex)
  rebuildIndex.onRun = async ({ reason }) => {
    if (reason !== 'all prices') return
    await enqueue('the stock', 'ignore')
    await enqueue('the stock again', 'ignore')
  }
  let finished = 0
  const both = new Promise<void>((resolve) => {
    worker.on('finished', () => {
      finished += 1
      if (finished === 2) resolve()
    })
  })
  const running = worker.run()
  await both
  await worker.stop()
  await running
})

// Output:
// a price: enqueued
// another price: ignored
// all prices: replaced
// rebuilding corner: all prices
// the stock: enqueued
// the stock again: ignored
// rebuilding corner: the stock
