/**
 * Several tasks in one call: what was acquired together is indexed together. Each task has an outcome of its own: one that the
 * search engine refuses is tried again by itself.
 */
import { type BatchRun, BatchTask, Worker } from '@pg-tasks/client'
import { withDatabase } from './with-database.js'

type Product = { name: string }

/** Takes many at once, and is out of sorts at first. */
class SearchEngine {
  #refuses = 'lamp'

  index(names: readonly string[]): Set<string> {
    const refused = new Set(names.filter((name) => name === this.#refuses))
    this.#refuses = ''
    return refused
  }
}

class IndexProducts extends BatchTask<Product> {
  readonly #search = new SearchEngine()

  override async runMany(runs: ReadonlyArray<BatchRun<Product>>): Promise<void> {
    const names = runs.map((run) => run.task.name)
    console.log(`indexing ${names.join(', ')}`)
    const refused = this.#search.index(names)
    for (const run of runs) if (refused.has(run.task.name)) run.fail(new Error('refused'))
  }
}

await withDatabase(async ({ connectionString, pool }) => {
  await pool.query(`
    create table tasks.index_products (
      like tasks.template including defaults including identity including indexes,
      name text not null
    );
    select tasks.register('tasks', 'index_products', backoff_base => '50 ms');
  `)
  const indexProducts = new IndexProducts()
  await indexProducts.enqueueMany(pool, [{ name: 'chair' }, { name: 'lamp' }, { name: 'table' }])

  const worker = new Worker({ connectionString })
  worker.add(indexProducts, 100) // up to 100 tasks in one call
  let finished = 0
  const all = new Promise<void>((resolve) => {
    worker.on('finished', () => {
      finished += 1
      if (finished === 3) resolve()
    })
  })
  const running = worker.run()
  await all
  await worker.stop()
  await running
  const { rows } = await pool.query('select name, execution_count from tasks.index_products order by id')
  for (const { name, execution_count } of rows) console.log(`${name}: ${execution_count}`)
})

// Output:
// indexing chair, lamp, table
// indexing lamp
// chair: 1
// lamp: 2
// table: 1
