/**
 * Limits across all workers: calls to a bank run at most two at a time, those of one account one after the other in their order,
 * and none while the bank is closed.
 */
import { type Claimed, limitConcurrency, limitKeys, pauseType, resumeType, Task, Worker } from '@pg-tasks/client'
import { withDatabase } from './with-database.js'

type Call = { account: string; step: number }

let running = 0
let most = 0
const steps = new Map<string, number[]>()

class CallBank extends Task<Call> {
  override async run(task: Claimed<Call>): Promise<void> {
    running += 1
    most = Math.max(most, running)
    await new Promise((resolve) => setTimeout(resolve, 20))
    steps.set(task.account, [...(steps.get(task.account) ?? []), task.step])
    running -= 1
  }
}

await withDatabase(async ({ connectionString, pool }) => {
  await pool.query(`
    create table tasks.call_bank (
      like tasks.template including defaults including identity including indexes,
      account text not null, step integer not null
    );
    select tasks.register('tasks', 'call_bank');
  `)
  const callBank = new CallBank()
  await limitConcurrency(pool, callBank, 2)
  await limitKeys(pool, callBank, { columns: ['account'] })
  await pauseType(pool, callBank, 'the bank is closed')
  const calls = ['Ada', 'Bob', 'Cleo'].flatMap((account) => [1, 2, 3].map((step) => ({ account, step })))
  await callBank.enqueueMany(pool, calls)

  // Two workers with four slots each, as if they were two processes.
  const workers = [1, 2].map(() => new Worker({ connectionString }).add(callBank, 4))
  let finished = 0
  const all = new Promise<void>((resolve) => {
    for (const worker of workers) {
      worker.on('finished', () => {
        finished += 1
        if (finished === calls.length) resolve()
      })
    }
  })
  const ready = workers.map((worker) => new Promise<void>((resolve) => worker.once('ready', resolve)))
  const ended = workers.map((worker) => worker.run())
  await Promise.all(ready)
  console.log(`while the bank is closed: ${most} calls`)
  await resumeType(pool, callBank)
  await all
  await Promise.all(workers.map((worker) => worker.stop()))
  await Promise.all(ended)

  console.log(`at most ${most} at a time`)
  for (const account of [...steps.keys()].sort()) console.log(`${account}: ${steps.get(account)?.join(', ')}`)
})

// Output:
// while the bank is closed: 0 calls
// at most 2 at a time
// Ada: 1, 2, 3
// Bob: 1, 2, 3
// Cleo: 1, 2, 3
