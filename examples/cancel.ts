/**
 * Cancel that arrives: a running task is canceled with SQL, its handler hears it through its signal and tidies up. What it would
 * still commit is refused.
 */
import { type Claimed, inTransaction, LeaseLostError, Task, type TaskContext, Worker } from '@pg-tasks/client'
import type { Pool } from 'pg'
import { withDatabase } from './with-database.js'

type Film = { film: string }

class RenderFilm extends Task<Film> {
  readonly #pool: Pool
  onStarted: () => void = () => {}

  constructor(pool: Pool) {
    super()
    this.#pool = pool
  }

  override async run(task: Claimed<Film>, { signal }: TaskContext): Promise<void> {
    console.log(`rendering ${task.film}`)
    this.onStarted()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    if (signal.reason instanceof LeaseLostError) console.log(`told to stop: ${signal.reason.reason}`)
    try {
      await inTransaction(this.#pool, async (tx) => {
        await tx.query('insert into films values ($1)', [task.film])
        await this.finish(tx, task)
      })
    } catch (error) {
      console.log(`too late: ${(error as { code?: string }).code}`)
      throw error
    }
  }
}

await withDatabase(async ({ connectionString, pool }) => {
  await pool.query(`
    create table films (film text);
    create table tasks.render_film (
      like tasks.template including defaults including identity including indexes,
      film text not null
    );
    select tasks.register('tasks', 'render_film');
  `)
  const renderFilm = new RenderFilm(pool)
  const worker = new Worker({ connectionString })
  worker.add(renderFilm)
  const started = new Promise<void>((resolve) => {
    renderFilm.onStarted = resolve
  })
  const running = worker.run()
  const id = await renderFilm.enqueue(pool, { film: 'Metropolis' })
  await started

  const { rows } = await pool.query(`select tasks.cancel_tasks_render_film($1, comment => 'withdrawn') as found`, [id])
  await worker.stop()
  await running
  console.log(`it was found ${rows[0].found}`)

  const { rows: tasks } = await pool.query(`
    select tasks.state(planned_to, started_at, finished_at, failed_at, canceled, now()) as state, comment,
      (select count(*) from films) as films
    from tasks.render_film`)
  console.log(`${tasks[0].state}: ${tasks[0].comment}; ${tasks[0].films} films`)
})

// Output:
// rendering Metropolis
// told to stop: canceled
// too late: TASK_NOT_RUNNING
// it was found running
// canceled: withdrawn; 0 films
