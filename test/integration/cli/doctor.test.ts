import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { runCli } from './run-cli.js'

const PLAIN = join(import.meta.dirname, 'workers', 'plain.mjs')

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
  await createTaskType(database.pool, 'greet', { columns: 'name text, tone text' })
})

const doctor = (...args: string[]) => runCli(['doctor', ...args], { env: { DATABASE_URL: database.url } })

it('finds nothing, with exit code 0, listening and pooler included', async () => {
  const { code, json } = await doctor('--json')
  expect({ code, severity: json.severity }).toEqual({ code: 0, severity: 'ok' })
  expect(json.checks.map(({ check }: { check: string }) => check)).toEqual(
    expect.arrayContaining(['migrations', 'indexes', 'dead_rows', 'pooler', 'listen']),
  )
  const { stdout } = await doctor()
  expect(stdout).toMatch(/✓ Notifications\n\n\d+ checks, nothing found\.\n$/)
})

it('tells warnings and what is critical by its exit code, each with its remedy', async () => {
  await database.pool.query(`insert into tasks.greet (failed_at, last_error) values (now(), 'no answer')`)
  const warned = await doctor('-q')
  expect({ code: warned.code, stdout: warned.stdout }).toEqual({
    code: 5,
    stdout: expect.stringMatching(/^! Failed tasks\n {4}1 tasks of tasks.greet .*no answer\n {4}→ .*pg-tasks reset/),
  })
  expect((await doctor('--fail-on', 'critical')).code).toBe(0)
  await database.pool.query(`insert into tasks.greet (planned_to) values (now() - interval '1 hour')`)
  expect((await doctor('--fail-on', 'critical')).code).toBe(6)
  await database.pool.query('delete from tasks.greet')
})

it('compares the columns that modules expect with the tables', async () => {
  expect((await doctor(PLAIN)).code).toBe(0)
  await database.pool.query('alter table tasks.greet drop column tone')
  const { code, json } = await doctor(PLAIN, '--json')
  expect(code).toBe(6)
  expect(json.checks.find(({ check }: { check: string }) => check === 'columns')).toMatchObject({
    findings: [{ subject: 'tasks.greet', details: { missing: ['tone'] } }],
  })
})
