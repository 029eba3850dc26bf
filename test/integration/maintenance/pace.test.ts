import { expect, it, onTestFinished } from 'vitest'
import { FailureLog } from '../../../packages/client/src/logger/failure-log.js'
import { Maintenance, type MaintenanceSession } from '../../../packages/client/src/maintenance/maintenance.js'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { scalarOf } from '../sql/rows-of.js'

it('deletes less at a time where a call takes too long, and more again where it goes', async () => {
  const database = await createDatabase()
  await createTaskType(database.pool, 'mail', { storageTime: '1 day' })
  await database.pool.query(
    `insert into tasks.mail (started_at, finished_at)
     select now() - interval '2 days', now() - interval '2 days' from generate_series(1, 120)`,
  )
  await database.pool.query(
    `create function public.slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.01); return old; end $$`,
  )
  await database.pool.query(
    'create trigger slow before delete on tasks.mail for each row execute function public.slow()',
  )
  const asked: number[] = []
  const open = (): MaintenanceSession => {
    const client = database.client()
    return {
      async query(text, values = []) {
        const session = await client
        await session.query(`set statement_timeout = '400ms'`)
        asked.push(Number(values[0]))
        return session.query(text, [...values])
      },
      close: async () => (await client).end(),
    }
  }
  const warnings: string[] = []
  const silent = (): void => {}
  const logger = {
    debug: silent,
    info: silent,
    error: silent,
    warn: (_: unknown, text: string) => void warnings.push(text),
  }
  const maintenance = new Maintenance({
    intervalMs: 20,
    open,
    logger,
    failures: new FailureLog(logger),
    onMaintained: silent,
  })
  onTestFinished(() => maintenance.stop())
  maintenance.start()

  await waitFor(async () => (await scalarOf(database.pool, 'select count(*)::int from tasks.mail')) === 0, {
    timeoutMs: 15_000,
    what: 'all to be deleted',
  })

  expect(asked.slice(0, 4)).toEqual([1_000, 100, 10, 20])
  expect(warnings[0]).toBe('Maintenance failed; trying again later')
})
