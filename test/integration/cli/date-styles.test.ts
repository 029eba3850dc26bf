import { inOneSnapshot } from '@pg-tasks/sql'
import { expect, it } from 'vitest'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase } from '../../support/test-database.js'
import { runCli } from './run-cli.js'

const database = await createDatabase()

it('commands tell dates and copy rows, whatever the database sets', async () => {
  await database.pool.query(`alter database ${database.name} set datestyle = 'German, DMY'`)
  await createTaskType(database.pool, 'mail')
  await database.pool.query(`
    insert into tasks.mail (planned_to) values ('2026-02-03T04:05:06Z');
    select tasks.schedule('hourly', 'tasks', 'mail', every => '1 hour', anchor => '2026-01-01T00:00:00Z')`)

  const env = { DATABASE_URL: database.url }
  const { json: listed } = await runCli(['list', 'mail', '--json'], { env })
  expect(listed.tasks).toMatchObject([{ planned_to: '2026-02-03T04:05:06.000Z' }])
  const { json: scheduled } = await runCli(['schedules', '--json'], { env })
  expect(scheduled.schedules).toMatchObject([{ key: 'hourly', nextAt: expect.stringContaining('Z') }])

  const client = await database.client()
  await inOneSnapshot(client, async () => {
    const { rows } = await client.query("select planned_to at time zone 'UTC' || '' as text from tasks.mail")
    expect(rows).toEqual([{ text: '2026-02-03 04:05:06' }])
  })
})
