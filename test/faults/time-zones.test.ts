import { beforeAll, describe, expect, it } from 'vitest'
import { createTaskType } from '../support/task-type.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'
import { spawnScript } from '../support/worker-process.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
  await database.pool.query(`alter database ${database.name} set timezone = 'Europe/Berlin'`)
  await createTaskType(database.pool, 'appointment', {
    columns: 'day date, local timestamp, at timestamptz, old timestamptz, days date[]',
  })
})

// B-30. On 2024-03-10 clocks were set forward in Los Angeles at two o'clock.
describe.each(['America/Los_Angeles', 'Asia/Tokyo', 'Europe/Berlin', 'UTC'])('a process in %s', (zone) => {
  it('keeps calendar days and instants, and is on time', { timeout: 60_000 }, async () => {
    const worker = spawnScript(new URL('./workers/dates.ts', import.meta.url), {
      env: { DATABASE_URL: database.url, TZ: zone },
    })
    const read = await worker.message<{ late: number }>({ timeoutMs: 40_000 })
    expect(read).toEqual({
      day: [2024, 3, 10],
      local: [2024, 3, 10, 1, 59],
      days: [
        [2024, 3, 10],
        [2024, 7, 1],
      ],
      at: '2024-03-10T10:30:00.250Z',
      old: '1850-06-01T12:00:00.000Z',
      late: expect.any(Number),
    })
    expect(read.late).toBeGreaterThanOrEqual(0)
    const { rows } = await database.pool.query(
      `select day::text, local::text, at = '2024-03-10 10:30:00.25+00' as at, old = '1850-06-01 12:00:00+00' as old
       from tasks.appointment order by id desc limit 1`,
    )
    expect(rows).toEqual([{ day: '2024-03-10', local: '2024-03-10 01:59:00', at: true, old: true }])
    expect(await worker.exited).toEqual({ code: 0, signal: null })
  })
})
