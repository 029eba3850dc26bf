import { Logger, makeWorkerUtils, runOnce } from 'graphile-worker'
import pg from 'pg'

/** `fill`: tasks in every state. `send <n>`: n waiting ones. `work`: does what waits until nothing does. For Node 22. */
const [command, count = '0'] = process.argv.slice(2)
const logger = new Logger(() => () => {})
const pgPool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
const utils = await makeWorkerUtils({ pgPool, logger })
await utils.migrate()

async function fill(): Promise<void> {
  await utils.addJob('send_mail', { userId: 1, subject: 'failed once' })
  await utils.addJob('send_mail', { userId: 9, subject: 'used up' }, { maxAttempts: 1 })
  await runOnce({ pgPool, logger, taskList: { send_mail: () => Promise.reject(new Error('mail server is down')) } })
  await utils.addJob('send_mail', { userId: 2, subject: 'running' })
  await pgPool.query(
    `update graphile_worker._private_jobs set locked_at = now(), locked_by = 'somebody' where payload->>'userId' = '2'`,
  )
  await utils.addJob('send_mail', { userId: 3, subject: 'plain' })
  await utils.addJob('send_mail', { userId: 4, subject: 'urgent' }, { priority: -5, jobKey: 'four', queueName: 'slow' })
  await utils.addJob('send_mail', { userId: 5, subject: 'unimportant' }, { priority: 10 })
  await utils.addJob('send_mail', { userId: 6, subject: 'later' }, { runAt: new Date('2100-01-01T00:00:00Z') })
  await utils.addJob('other', { anything: true })
}

if (command === 'fill') await fill()
if (command === 'send') {
  const jobs = Array.from({ length: Number(count) }, (_, n) => ({ identifier: 'send_mail', payload: { n } }))
  await utils.addJobs(jobs)
}
if (command === 'work') {
  const send_mail = async (payload: unknown): Promise<void> => {
    await pgPool.query('insert into done values ($1, $2)', ['graphile-worker', (payload as { n: number }).n])
  }
  await runOnce({ pgPool, logger, taskList: { send_mail } })
}
await utils.release()
await pgPool.end()
