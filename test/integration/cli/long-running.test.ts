import { beforeAll, expect, it } from 'vitest'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { runCli, startCli } from './run-cli.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
  await createTaskType(database.pool, 'watched')
})

it('stats --watch gives an answer per look where nobody sits before it, and ends well at SIGTERM', async () => {
  const cli = startCli(['stats', '--watch', '--json', '--interval', '50ms'], { env: { DATABASE_URL: database.url } })
  await cli.line(/"ready":0/)
  await database.pool.query('insert into tasks.watched default values')
  const answer = JSON.parse(await cli.line(/"ready":1/))
  expect(answer).toMatchObject({ at: expect.any(String), types: [{ table: 'watched', total: 1, workers: 0 }] })
  cli.signal('SIGTERM')
  expect(await cli.ended).toEqual({ code: 0, signal: null })
})

it('stats --watch writes tables without the marks of a terminal when it is piped', async () => {
  const cli = startCli(['stats', '--watch', '--interval', '50ms'], { env: { DATABASE_URL: database.url } })
  await cli.line(/^TYPE .* FINISHED\/S$/)
  cli.signal('SIGINT')
  expect(await cli.ended).toEqual({ code: 0, signal: null })
  expect(cli.lines.join('').replaceAll(/[\x20-\x7e]/g, '')).toBe('')
})

it('dashboard serves until SIGTERM', async () => {
  const cli = startCli(['dashboard', '--port', '0', '--json'], { env: { DATABASE_URL: database.url } })
  const { url } = JSON.parse(await cli.line(/"url"/))
  expect((await fetch(url)).status).toBeLessThan(500)
  cli.signal('SIGTERM')
  expect(await cli.ended).toEqual({ code: 0, signal: null })
})

it('dashboard listens to other machines only with a token, and lets in who has it', async () => {
  const refused = await runCli(['dashboard', '--port', '0', '--host', '0.0.0.0'], {
    env: { DATABASE_URL: database.url },
  })
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('token')

  const token = 'a token that is long enough'
  const env = { DATABASE_URL: database.url, PG_TASKS_DASHBOARD_TOKEN: token }
  const cli = startCli(['dashboard', '--port', '0', '--host', '0.0.0.0', '--user', 'ann', '--json'], { env })
  const { port } = new URL(JSON.parse(await cli.line(/"url"/)).url)
  const signIn = (given: string) =>
    fetch(`http://127.0.0.1:${port}/login`, {
      method: 'POST',
      body: new URLSearchParams({ token: given }),
      redirect: 'manual',
    })
  expect((await signIn('another one that is long enough')).status).toBe(401)
  const signedIn = await signIn(token)
  expect({ status: signedIn.status, cookie: signedIn.headers.get('set-cookie') }).toEqual({
    status: 303,
    cookie: expect.stringContaining('HttpOnly'),
  })
  cli.signal('SIGTERM')
  expect(await cli.ended).toEqual({ code: 0, signal: null })
})
