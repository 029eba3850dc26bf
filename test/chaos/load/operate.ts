import { inTransaction, pauseType, resumeType } from '@pg-tasks/client'
import type { PoolClient } from 'pg'
import type { ChaosTask } from '../workers/chaos-task.js'
import { outcomeOf } from '../workers/handler-tools.js'
import { type Loader, pause } from './loader.js'

const VERBS = { cancel: 5, reset: 4, reset_and_forget: 1, clean: 2, reset_failed: 1, pause: 0.5 } as const

type Verb = keyof typeof VERBS

/** Somebody who cancels, resets, cleans and pauses at random. */
export async function operate(loader: Loader): Promise<void> {
  const { random } = loader
  while (!loader.signal.aborted) {
    await pause(loader, random.gap(400))
    if (loader.signal.aborted || loader.known.length === 0) continue
    // Mostly the newest: they are the ones that run.
    const known = random.chance(0.7) ? loader.known.slice(-30) : loader.known
    const { table, id } = random.pick(known)
    await act(loader, random.weighted(VERBS), table, id)
  }
}

async function act(loader: Loader, verb: Verb, table: string, id: string): Promise<void> {
  const { history } = loader
  const task = loader.tasks.get(table) as ChaosTask
  const about = { table, id: verb === 'cancel' || verb.startsWith('reset') ? id : '', verb }
  history.write('operator_asked', about)
  try {
    const found = await ask(loader, verb, task, id)
    history.write('operator_ended', { ...about, outcome: 'acknowledged', found })
  } catch (error) {
    history.write('operator_ended', { ...about, outcome: outcomeOf(error), error: String(error) })
  }
}

async function ask(loader: Loader, verb: Verb, task: ChaosTask, id: string): Promise<string | number> {
  const { pool, random } = loader
  switch (verb) {
    case 'cancel':
      return pool.use((client) => task.cancel(client, id, { comment: 'by the operator' }))
    case 'reset':
    case 'reset_and_forget':
      return inTransaction(pool, (transaction) => resetOne(transaction, task, id, verb === 'reset_and_forget'))
    case 'reset_failed':
      return inTransaction(pool, (transaction) => resetFailed(transaction, task))
    case 'clean':
      return pool.use((client) =>
        task.clean(client, {
          olderThanMs: random.integer(0, 5_000),
          states: ['finished', 'canceled', 'failed'],
          maxNum: 50,
        }),
      )
    case 'pause': {
      await pool.use((client) => pauseType(client, task, 'by the operator'))
      await pause(loader, random.integer(100, 2_000))
      await untilDone(() => pool.use((client) => resumeType(client, task)))
      return 'resumed'
    }
  }
}

/** The generation goes up in the same transaction, so that a row, an effect and a reset can be told apart. */
async function resetOne(transaction: PoolClient, task: ChaosTask, id: string, forgetMarks: boolean): Promise<string> {
  const { table } = task.options
  const found = await task.reset(transaction, id, { forgetMarks })
  await transaction.query(
    `with was as (update chaos.${table} t set generation = t.generation + 1 where t.id = $1 returning t.generation - 1 as generation)
     insert into chaos.resets (table_name, task_id, generation, found, forgot) select $2, $1, was.generation, $3, $4 from was`,
    [id, table, found, forgetMarks],
  )
  return found
}

async function resetFailed(transaction: PoolClient, task: ChaosTask): Promise<number> {
  const { table } = task.options
  const count = await task.resetFailed(transaction, { maxNum: 5 })
  await transaction.query(
    `with was as (
       update chaos.${table} t set generation = t.generation + 1
       where t.id in (
         select s.task_id from chaos.transitions s
         where s.table_name = $1 and s.xid = pg_current_xact_id()::text and s.old_state = 'failed' and s.new_state = 'waiting')
       returning t.id, t.generation - 1 as generation)
     insert into chaos.resets (table_name, task_id, generation, found, forgot) select $1, was.id, was.generation, 'failed', false from was`,
    [table],
  )
  return count
}

/** A type must not stay paused when the load ends. */
async function untilDone(work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await work()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}
