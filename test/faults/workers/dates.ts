import { type Claimed, Task, Worker } from '@pg-tasks/client'
import { Client } from 'pg'

type Dates = { day: Date; local: Date; at: Date; old: Date; days: Date[] }

class Appointment extends Task<Dates> {
  override async run(task: Claimed<Dates>): Promise<void> {
    const { day, local, at, old, days } = task
    process.send?.({
      day: [day.getFullYear(), day.getMonth() + 1, day.getDate()],
      local: [local.getFullYear(), local.getMonth() + 1, local.getDate(), local.getHours(), local.getMinutes()],
      days: days.map((one) => [one.getFullYear(), one.getMonth() + 1, one.getDate()]),
      at: at.toISOString(),
      old: old.toISOString(),
      late: task.started_at.getTime() - task.planned_to.getTime(),
    })
    void worker.stop()
  }
}

const client = new Client({ connectionString: process.env.DATABASE_URL as string })
await client.connect()
const appointment = new Appointment()
const row = {
  day: new Date(2024, 2, 10),
  local: new Date(2024, 2, 10, 1, 59),
  days: [new Date(2024, 2, 10), new Date(2024, 6, 1)],
  at: new Date('2024-03-10T10:30:00.250Z'),
  old: new Date('1850-06-01T12:00:00Z'),
}
await appointment.enqueue(client, row, { delayMs: 100 })
await client.end()
const worker = new Worker({ connectionString: process.env.DATABASE_URL as string, pollIntervalMs: 60_000 })
worker.add(appointment)
await worker.run()
process.disconnect?.()
