import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Claimed, Task, Worker } from '@pg-tasks/client'
import type { Client, Pool } from 'pg'
import { expect } from 'vitest'
import { runOnNode22 } from '../../support/run-on-node-22.js'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase } from '../../support/test-database.js'

/** How many tasks `moveUnderRunningWorkers` enqueues. */
export const TASKS_TO_MOVE = 300

const TIMEOUT_MS = 120_000
const SCRIPTS = join(import.meta.dirname, '..', '..', '..', 'docs', 'guides', 'migrate-from')

type Peer = 'pg-boss' | 'graphile-worker'

/** A session that has the functions of a script; both are temporary, so that the session is part of them. */
export async function loadScript(client: Client, script: Peer): Promise<void> {
  for (const name of ['payload-columns', script]) await client.query(readFileSync(join(SCRIPTS, `${name}.sql`), 'utf8'))
}

/** Runs the moved tasks, which are numbered, until as many as given are done. */
async function workOff(pool: Pool, connectionString: string, count: number): Promise<void> {
  class SendMail extends Task<{ n: number }> {
    override async run({ n }: Claimed<{ n: number }>): Promise<void> {
      await pool.query(`insert into done values ('pg-tasks', $1)`, [n])
    }
  }
  const worker = new Worker({ connectionString, handleSignals: false })
  let finished = 0
  worker.add(new SendMail(), 4).on('finished', () => {
    finished += 1
    if (finished === count) void worker.stop()
  })
  if (count > 0) await worker.run()
}

/**
 * Moves 300 tasks over in small portions while a worker of the other queue works them off, then works off the rest with ours.
 *
 * @returns how many were done, and how many different ones, by whoever
 */
export async function moveUnderRunningWorkers(peer: Peer, program: URL, move: string): Promise<object> {
  const database = await createDatabase()
  const { pool, url } = database
  const client = await database.client()
  await createTaskType(pool, 'send_mail', { columns: 'n integer not null' })
  await pool.query('create table done (by text not null, n integer not null)')
  await runOnNode22(program, ['send', String(TASKS_TO_MOVE)], { DATABASE_URL: url })
  await loadScript(client, peer)

  const working = runOnNode22(program, ['work'], { DATABASE_URL: url })
  await expect
    .poll(async () => (await pool.query('select from done limit 1')).rowCount, { timeout: TIMEOUT_MS })
    .toBe(1)
  let moved = 0
  for (let last = -1; last !== 0; moved += Math.max(last, 0)) last = (await client.query(move, [{}, 25])).rows[0].moved
  await working
  expect(moved).toBeGreaterThan(0)
  await workOff(pool, url, moved)
  const { rows } = await pool.query('select count(*)::integer, count(distinct n)::integer as numbers from done')
  return rows[0]
}
