import { expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { runCli } from './run-cli.js'

it('migrate tells what it would do, does it, and tells how the database stands by its exit code', async () => {
  const { url, pool } = await createDatabase({ migrations: false })
  const migrate = (...args: string[]) => runCli(['migrate', ...args, '--json'], { env: { DATABASE_URL: url } })
  const before = await migrate('--status')
  expect({ code: before.code, json: before.json }).toMatchObject({ code: 5, json: { state: 'missing', applied: [] } })
  const dry = await migrate('--dry-run')
  expect(dry.json).toMatchObject({ dryRun: true, applied: before.json.pending, alreadyApplied: [] })
  expect((await migrate('--status')).code).toBe(5)
  expect((await migrate()).json.applied).toEqual(before.json.pending)
  const after = await migrate('--status')
  expect({ code: after.code, json: after.json }).toMatchObject({ code: 0, json: { state: 'current', pending: [] } })
  await pool.query(`update tasks.migrations set checksum = 'another' where number = 2`)
  const changed = await migrate('--status')
  expect({ code: changed.code, json: changed.json }).toMatchObject({ code: 6, json: { state: 'incompatible' } })
  const refused = await migrate()
  expect(refused.code).toBe(1)
  expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: 'MIGRATION_CHANGED' } })
})

it('a command on a database without the schema says what to do', async () => {
  const { url } = await createDatabase({ migrations: false })
  const { code, stderr } = await runCli(['stats'], { env: { DATABASE_URL: url } })
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('pg-tasks migrate') })
})
