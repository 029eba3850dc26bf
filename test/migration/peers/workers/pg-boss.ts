import pg from 'pg'
import { PgBoss } from 'pg-boss'

/** `fill`: tasks in every state. `send <n>`: n waiting ones. `work`: does what waits until nothing does. For Node 22. */
const [command, count = '0'] = process.argv.slice(2)
const QUEUE = 'send-mail'
const boss = new PgBoss({ connectionString: process.env.DATABASE_URL ?? '', schedule: false, supervise: false })
boss.on('error', (error) => process.stderr.write(`${error.message}\n`))
await boss.start()

async function fill(): Promise<void> {
  await boss.createQueue(QUEUE)
  // Takes two before the others are there: one fails and waits for its second try, the other stays with it.
  await boss.send(QUEUE, { userId: 1, subject: 'failed once' }, { retryLimit: 5, retryDelay: 3600 })
  const [failed] = await boss.fetch(QUEUE)
  await boss.fail(QUEUE, failed?.id ?? '', new Error('mail server is down'))
  await boss.send(QUEUE, { userId: 2, subject: 'running' })
  await boss.fetch(QUEUE)

  await boss.send(QUEUE, { userId: 3, subject: 'plain' })
  await boss.send(QUEUE, { userId: 4, subject: 'urgent' }, { priority: 7, singletonKey: 'four' })
  await boss.send(QUEUE, { userId: 5, subject: 'unimportant' }, { priority: -1 })
  await boss.send(QUEUE, { userId: 6, subject: 'later' }, { startAfter: '2100-01-01T00:00:00Z' })
  await boss.flow([
    { name: QUEUE, ref: 'first', data: { userId: 7, subject: 'first' } },
    { name: QUEUE, ref: 'second', data: { userId: 8, subject: 'after it' }, dependsOn: ['first'] },
  ])
}

async function work(): Promise<void> {
  const client = new pg.Client(process.env.DATABASE_URL)
  await client.connect()
  for (let jobs = await boss.fetch<{ n: number }>(QUEUE); jobs.length > 0; jobs = await boss.fetch(QUEUE)) {
    for (const { id, data } of jobs) {
      await client.query('insert into done values ($1, $2)', ['pg-boss', data.n])
      await boss.complete(QUEUE, id)
    }
  }
  await client.end()
}

if (command === 'fill') await fill()
if (command === 'send') {
  await boss.createQueue(QUEUE)
  await boss.insert(
    QUEUE,
    Array.from({ length: Number(count) }, (_, n) => ({ data: { n } })),
  )
}
if (command === 'work') await work()
await boss.stop({ graceful: false })
