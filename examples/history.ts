/**
 * A history of attempts: each run leaves a row that says who ran it, how long, and how it ended.
 */
import { type Claimed, keepHistory, Task, Worker } from '@pg-tasks/client'
import { withDatabase } from './with-database.js'

type Feed = { url: string }

class ImportFeed extends Task<Feed> {
  override async run(task: Claimed<Feed>): Promise<void> {
    if (task.execution_count < 3) throw new Error(`${task.url} is down`)
  }
}

await withDatabase(async ({ connectionString, pool }) => {
  await pool.query(`
    create table tasks.import_feed (
      like tasks.template including defaults including identity including indexes,
      url text not null
    );
    select tasks.register('tasks', 'import_feed', backoff_base => '10 ms', backoff_max => '10 ms');
  `)
  const importFeed = new ImportFeed()
  await keepHistory(pool, importFeed, 30 * 24 * 60 * 60 * 1000)
  await importFeed.enqueue(pool, { url: 'https://feeds.example' })

  const worker = new Worker({ connectionString })
  worker.add(importFeed)
  const finished = new Promise((resolve) => worker.once('finished', resolve))
  const running = worker.run()
  await finished
  await worker.stop()
  await running

  const { rows } = await pool.query(
    `select attempt, outcome, split_part(error, E'\\n', 1) as error, worker_id = $1 as mine, ended_at > started_at as took_time
     from tasks.attempts order by attempt`,
    [worker.id],
  )
  for (const { attempt, outcome, error, mine, took_time } of rows) {
    console.log(
      `${attempt} ${outcome}${error === null ? '' : `, ${error}`}; ${mine && took_time ? 'by this worker' : '?'}`,
    )
  }
})

// Output:
// 1 retried, Error: https://feeds.example is down; by this worker
// 2 retried, Error: https://feeds.example is down; by this worker
// 3 finished; by this worker
