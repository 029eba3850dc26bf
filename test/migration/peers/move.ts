import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Claimed, Task, Worker } from '@pg-tasks/client'
import type { Client, Pool } from 'pg'

const SCRIPTS = join(import.meta.dirname, '..', '..', '..', 'docs', 'guides', 'migrate-from')

/** A session that has the functions of a script; both are temporary, so that the session is part of them. */
export async function loadScript(client: Client, script: 'pg-boss' | 'graphile-worker'): Promise<void> {
  for (const name of ['payload-columns', script]) await client.query(readFileSync(join(SCRIPTS, `${name}.sql`), 'utf8'))
}

/** Runs the moved tasks, which are numbered, until as many as given are done. */
export async function workOff(pool: Pool, connectionString: string, count: number): Promise<void> {
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
