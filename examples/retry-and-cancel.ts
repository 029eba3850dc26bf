/**
 * How a run may end: returning finishes the task, throwing retries it after a pause that grows, RetryTask and CancelTask
 * choose otherwise. A running task that is canceled from elsewhere hears it through its signal.
 */
import { CancelTask, type Claimed, RetryTask, Task, type TaskContext, Worker } from '@pg-tasks/client'
import { withDatabase } from './with-database.js'

type Call = { number: string }

class CallBack extends Task<Call> {
  onWaiting: () => void = () => {}

  override async run(task: Claimed<Call>, { attempt, signal }: TaskContext): Promise<void> {
    console.log(`${task.number}, attempt ${attempt}`)
    switch (task.number) {
      case 'busy':
        if (attempt === 1) throw new RetryTask({ delayMs: 100, comment: 'busy' })
        return
      case 'unreachable':
        throw new Error('no such number')
      case 'withdrawn':
        throw new CancelTask('the caller does not want to be called')
      case 'endless':
        this.onWaiting()
        await new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        })
    }
  }
}

await withDatabase(async ({ connectionString, pool }) => {
  await pool.query(`
    create table tasks.call_back (
      like tasks.template including defaults including identity including indexes,
      number text not null
    );
    select tasks.register('tasks', 'call_back', max_retries => 1, backoff_base => '100 ms');
  `)
  const callBack = new CallBack()
  const worker = new Worker({ connectionString })
  worker.add(callBack)
  const running = worker.run()

  const untilEnded = async (number: string): Promise<void> => {
    const end = new Promise<unknown>((resolve) => {
      worker.once('finished', resolve).once('failed', resolve).once('canceled', resolve).once('lost', resolve)
    })
    await callBack.enqueue(pool, { number })
    await end
  }
  await untilEnded('busy')
  await untilEnded('unreachable')
  await untilEnded('withdrawn')
  callBack.onWaiting = () => {
    void pool.query("select tasks.cancel_tasks_call_back(id) from tasks.call_back where number = 'endless'")
  }
  await untilEnded('endless')
  await worker.stop()
  await running

  const { rows } = await pool.query<{ line: string }>(`
    select concat_ws(', ', number, s.state, execution_count || 'x', comment, split_part(last_error, chr(10), 1)) as line
    from tasks.call_back
    cross join lateral tasks.state(planned_to, started_at, finished_at, failed_at, canceled, now()) as s (state)
    order by id`)
  for (const { line } of rows) console.log(line)
})

// Output:
// busy, attempt 1
// busy, attempt 2
// unreachable, attempt 1
// unreachable, attempt 2
// withdrawn, attempt 1
// endless, attempt 1
// busy, finished, 2x, busy, RetryTask: busy
// unreachable, failed, 2x, Error: no such number
// withdrawn, canceled, 1x, the caller does not want to be called
// endless, canceled, 1x
