/**
 * A schedule: declared by the worker, planned in a zone, brought up to date by its key, and each occurrence one task, which
 * knows its schedule and its instant. From psql it is the same.
 */
import { type Claimed, listSchedules, previewOccurrences, Task, triggerSchedule, Worker } from '@pg-tasks/client'
import { withDatabase } from './with-database.js'

type Report = { recipient: string }

class SendReport extends Task<Report> {
  readonly #sent: Array<Claimed<Report>> = []
  #onSent: (task: Claimed<Report>) => void = () => {}

  override async run(task: Claimed<Report>): Promise<void> {
    this.#sent.push(task)
    this.#onSent(task)
  }

  /** The first `count` that were sent of a schedule. */
  async sent(key: string, count: number): Promise<Array<Claimed<Report>>> {
    for (;;) {
      const found = this.#sent.filter((task) => task.schedule_key === key)
      if (found.length >= count) return found.slice(0, count)
      await new Promise((resolve) => {
        this.#onSent = resolve
      })
    }
  }
}

await withDatabase(async ({ connectionString, pool }) => {
  await pool.query(`
    create table tasks.send_report (
      like tasks.template including defaults including identity including indexes,
      recipient text not null
    );
    select tasks.register('tasks', 'send_report');
  `)

  // When the clocks of Berlin skip the hour from two to three, a daily time in it comes at its end.
  const nightly = { cron: '30 2 * * *', timezone: 'Europe/Berlin' }
  const preview = previewOccurrences(nightly, 3, new Date('2027-03-26T12:00:00Z'))
  for (const occurrence of preview) console.log(occurrence.toISOString())

  const sendReport = new SendReport()
  const worker = new Worker({ connectionString })
  worker.add(sendReport)
  worker.schedule(sendReport, { key: 'nightly', ...nightly }, { recipient: 'night@example.com' })
  worker.schedule(sendReport, { key: 'each second', everyMs: 1_000 }, { recipient: 'seconds@example.com' })
  const running = worker.run()

  const [first, second] = await sendReport.sent('each second', 2)
  const apart = Number(second?.occurrence_at) - Number(first?.occurrence_at)
  console.log(`${first?.recipient}: occurrences ${apart} ms apart, by ${first?.schedule_trigger}`)

  // The same request is one task, however often it comes.
  const ids = [
    await triggerSchedule(pool, 'nightly', { requestId: 'ticket 4711' }),
    await triggerSchedule(pool, 'nightly', { requestId: 'ticket 4711' }),
  ]
  const [byHand] = await sendReport.sent('nightly', 1)
  console.log(`${byHand?.recipient}: by ${byHand?.schedule_trigger}, ${new Set(ids).size} task`)

  await pool.query(`select tasks.pause_schedule('each second', 'enough')`)
  await worker.stop()
  await running
  for (const { key, state, pausedReason } of await listSchedules(pool)) {
    console.log([key, state, pausedReason].filter((text) => text !== null).join(', '))
  }
})

// Output:
// 2027-03-27T01:30:00.000Z
// 2027-03-28T01:00:00.000Z
// 2027-03-29T00:30:00.000Z
// seconds@example.com: occurrences 1000 ms apart, by schedule
// night@example.com: by manual, 1 task
// each second, paused, enough
// nightly, active
