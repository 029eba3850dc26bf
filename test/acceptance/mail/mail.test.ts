import { Worker } from '@pg-tasks/client'
import { describe, expect, it } from 'vitest'
import { createTaskType, insertTasks, readTask, readTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { spawnScript, type WorkerProcess } from '../../support/worker-process.js'
import { type MailHooks, MailServer } from './mail-server.js'
import { SendLetter } from './send-letter.js'

const WORKER = new URL('./workers/send-letters.ts', import.meta.url)

async function letterDatabase(): Promise<TestDatabase> {
  const database = await createDatabase()
  await createTaskType(database.pool, 'send_letter', {
    timeout: '1 s',
    columns: `address text not null default 'a@example.com', subject text not null default 'Your order'`,
  })
  return database
}

async function oneLetter(hooks: MailHooks = {}) {
  const database = await letterDatabase()
  const mail = await MailServer.start(hooks)
  const [id] = (await insertTasks(database.pool, 'send_letter')) as [string]
  return { database, mail, id }
}

function startWorker(database: TestDatabase, mail: MailServer, env: Record<string, string> = {}): WorkerProcess {
  return spawnScript(WORKER, { env: { DATABASE_URL: database.url, SMTP_PORT: String(mail.port), ...env } })
}

/** A worker takes over after a kill and brings the task to its end; that it finds nothing to do is an end too. */
async function finishElsewhere(database: TestDatabase, mail: MailServer, id: string): Promise<void> {
  const successor = new Worker({ connectionString: database.url, pollIntervalMs: 500, handleSignals: false })
  successor.add(new SendLetter(mail.port))
  const running = successor.run()
  await waitFor(async () => (await readTask(database.pool, 'send_letter', id)).state === 'finished', {
    timeoutMs: 40_000,
    what: 'another worker to finish the task',
  })
  await successor.stop()
  await running
}

/** What arrived: a server that knows no keys would have delivered all of it, one that honours them delivers it once. */
function expectArrived(mail: MailServer, times: number): void {
  const arrived = [...mail.delivered, ...mail.repeated]
  expect(arrived).toHaveLength(times)
  expect(mail.delivered).toHaveLength(1)
  for (const { key } of arrived) expect(key).toBe(mail.delivered[0]?.key)
  expect(mail.delivered[0]?.key).toMatch(/^[0-9a-f]{32}$/)
}

describe('a letter arrives once although the process is killed', { timeout: 60_000 }, () => {
  it.each(['before the letter is sent', 'after the mark, before the finish', 'after the finish'])(
    '%s',
    async (point) => {
      const { database, mail, id } = await oneLetter()
      const worker = startWorker(database, mail, { STOP_AT: point })
      expect(await worker.message()).toBe(point)
      await worker.kill()

      await finishElsewhere(database, mail, id)

      expectArrived(mail, 1)
    },
  )

  it('while the letter is sent', async () => {
    const { database, mail, id } = await oneLetter({ onBegun: async () => void (await victim?.kill()) })
    // More than fits into the buffers on the way.
    let victim: WorkerProcess | undefined = startWorker(database, mail, { LINES: '200000' })
    await victim.exited
    victim = undefined

    await finishElsewhere(database, mail, id)

    expectArrived(mail, 1)
  })
})

// The one gap of docs/guides/mail-once.md: from the server's acceptance to the commit of the mark.
describe('a letter arrives twice, with the same key, where the process is killed in the gap', {
  timeout: 60_000,
}, () => {
  it('after the server accepted the letter, before it could say so', async () => {
    const { database, mail, id } = await oneLetter({ onAccepted: async () => void (await victim?.kill()) })
    let victim: WorkerProcess | undefined = startWorker(database, mail)
    await victim.exited
    victim = undefined

    await finishElsewhere(database, mail, id)

    expectArrived(mail, 2)
  })

  it('after the letter is sent, before the mark', async () => {
    const { database, mail, id } = await oneLetter()
    const worker = startWorker(database, mail, { STOP_AT: 'after the letter is sent, before the mark' })
    await worker.message()
    await worker.kill()

    await finishElsewhere(database, mail, id)

    expectArrived(mail, 2)
  })

  it('while the mark waits for a transaction that holds the task', async () => {
    const { database, mail, id } = await oneLetter()
    const user = await database.client()
    const worker = startWorker(database, mail, { STOP_AT: 'after the letter is sent, before the mark' })
    await worker.message()
    await user.query('begin')
    await user.query('select from tasks.send_letter where id = $1 for update', [id])
    worker.send('go on')
    await worker.line('A step could not be begun or marked; trying again')
    await worker.kill()
    await user.query('rollback')

    await finishElsewhere(database, mail, id)

    expectArrived(mail, 2)
  })
})

it('delivers 100 letters once each through kills in the gap, where the keys are honoured', {
  timeout: 120_000,
}, async () => {
  const KILLS = 6
  const database = await letterDatabase()
  const workers: WorkerProcess[] = []
  let kills = 0
  const mail = await MailServer.start({
    // Every fifteenth acceptance kills a process, before the sender hears of it: whoever sent this or another letter.
    onAccepted: async () => {
      const accepted = mail.delivered.length + mail.repeated.length
      if (accepted % 15 !== 5 || kills >= KILLS) return
      kills += 1
      await workers.shift()?.kill()
      workers.push(startWorker(database, mail, { CONCURRENCY: '5' }))
    },
  })
  await database.pool.query(
    `insert into tasks.send_letter (subject) select 'Letter ' || n from generate_series(1, 100) n`,
  )
  for (let number = 0; number < 2; number += 1) workers.push(startWorker(database, mail, { CONCURRENCY: '5' }))

  await waitFor(
    async () => (await readTasks(database.pool, 'send_letter')).every(({ state }) => state === 'finished'),
    { timeoutMs: 110_000, what: 'all tasks to be finished' },
  )
  for (const worker of workers) await worker.kill('SIGTERM')

  expect(kills).toBe(KILLS)
  expect(mail.delivered.map(({ subject }) => subject).sort()).toEqual(
    Array.from({ length: 100 }, (_, index) => `Letter ${index + 1}`).sort(),
  )
  expect(new Set(mail.delivered.map(({ key }) => key)).size).toBe(100)
  // The gap was met: without the key, letters would have been delivered twice.
  expect(mail.repeated.length).toBeGreaterThan(0)
  console.info(`100 letters, ${kills} kills: ${mail.repeated.length} repetitions recognised, none delivered twice`)
})
