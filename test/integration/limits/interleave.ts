import type { Client } from 'pg'
import type { TestDatabase } from '../../support/test-database.js'

/** How the sessions of one trial behave. */
export interface Interleaving {
  readonly table: string
  readonly sessions: number
  readonly isolation: 'read committed' | 'repeatable read' | 'mixed'
  /** Whether ends may retry, cancel, reset, release and delete, or only finish. */
  readonly operations: boolean
}

/** Errors that two transactions in each other's way may get. */
const CONFLICTS = new Set(['40001', '40P01', 'TQ001', 'TQ002', 'TQ006', 'TQ011'])

/**
 * Many plain sessions that acquire and end tasks in open transactions, which commit or roll back, until nothing is left.
 * Returns the SQLSTATEs of the conflicts that there were.
 */
export async function interleave(database: TestDatabase, trial: Interleaving, deadlineMs: number): Promise<string[]> {
  const conflicts: string[] = []
  const until = performance.now() + deadlineMs
  const sessions = Array.from({ length: trial.sessions }, async (_, index) => {
    const client = await database.client()
    for (;;) {
      if (performance.now() > until) throw new Error(`Not done after ${deadlineMs} ms`)
      if (await isDone(client, trial.table)) return
      await turn(client, trial, index, conflicts)
    }
  })
  await Promise.all(sessions)
  return conflicts
}

async function isDone(client: Client, table: string): Promise<boolean> {
  const { rows } = await client.query(
    `select not exists (select from tasks.${table} where finished_at is null and failed_at is null and not canceled) as done`,
  )
  return rows[0].done
}

async function turn(client: Client, trial: Interleaving, index: number, conflicts: string[]): Promise<void> {
  const most = 1 + Math.floor(Math.random() * 4)
  const { rows } = await client.query<{ id: string; token: string }>(
    `select id, run_token as token from tasks.acquire_tasks_${trial.table}($1)`,
    [most],
  )
  if (rows.length === 0) await client.query('select pg_sleep(0.002)')
  const stricter = trial.isolation === 'repeatable read' || (trial.isolation === 'mixed' && index % 2 === 0)
  // Not in the order of the ids: several keys end in one transaction, in any order.
  for (let left = shuffle(rows); left.length > 0; ) {
    const together = left.slice(0, 1 + Math.floor(Math.random() * 3))
    try {
      await client.query(`begin isolation level ${stricter ? 'repeatable read' : 'read committed'}`)
      for (const { id, token } of together) {
        await client.query(endOf(trial, token), [id])
        if (Math.random() < 0.3) await client.query('select pg_sleep(random() * 0.003)')
      }
      if (Math.random() < 0.15) {
        await client.query('rollback')
        continue
      }
      await client.query('commit')
      left = left.slice(together.length)
    } catch (error) {
      const { code } = error as { code?: string }
      if (code === undefined || !CONFLICTS.has(code)) throw error
      conflicts.push(code)
      await client.query('rollback')
      // Somebody else ended one of them: each for itself, so that the others aren't left running.
      if (code.startsWith('TQ')) {
        for (const { id, token } of together) {
          await client
            .query(`select tasks.finish_tasks_${trial.table}($1, run_token => '${token}')`, [id])
            .catch(() => {})
        }
        left = left.slice(together.length)
      }
    }
  }
  if (trial.operations && Math.random() < 0.2) await operate(client, trial.table, conflicts)
}

function endOf({ table, operations }: Interleaving, token: string): string {
  const draw = Math.random()
  if (!operations || draw < 0.6) return `select tasks.finish_tasks_${table}($1, run_token => '${token}')`
  if (draw < 0.75) return `select tasks.retry_tasks_${table}($1, run_token => '${token}', delay => '5 ms')`
  if (draw < 0.85) return `select tasks.release_tasks_${table}($1, '${token}')`
  if (draw < 0.95) return `select tasks.cancel_tasks_${table}($1)`
  return `delete from tasks.${table} where id = $1`
}

/** What somebody does from outside to any unfinished task, running, waiting or held. */
async function operate(client: Client, table: string, conflicts: string[]): Promise<void> {
  const any = `(select id from tasks.${table} where finished_at is null and failed_at is null and not canceled order by random() limit 1)`
  const operations = [
    `select tasks.cancel_tasks_${table}(id) from ${any} s`,
    `select tasks.reset_tasks_${table}(id) from ${any} s`,
    `update tasks.${table} set priority = 3 * random() where id = ${any}`,
    `update tasks.${table} set planned_to = tasks.clock() + interval '3 ms' where id = ${any}`,
    `delete from tasks.${table} where id = ${any}`,
    `begin; update tasks.${table} set comment = 'x' where id = ${any}; select pg_sleep(0.003); rollback`,
  ]
  try {
    await client.query(operations[Math.floor(Math.random() * operations.length)] as string)
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === undefined || !CONFLICTS.has(code)) throw error
    conflicts.push(code)
    await client.query('rollback')
  }
}

function shuffle<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
