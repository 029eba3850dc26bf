import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { type RunningCli, runCli, startCli } from './run-cli.js'

const WORKERS = join(import.meta.dirname, 'workers')
const GREET = join(WORKERS, 'greet.ts')

let database: TestDatabase

beforeEach(async () => {
  database = await createDatabase()
  await createTaskType(database.pool, 'greet', { columns: 'name text', timeout: '2 s' })
  await database.pool.query('create table greetings (task_id bigint, pid integer); create table go ()')
})

function start(...args: string[]): RunningCli {
  return startCli(['worker', ...args], { env: { DATABASE_URL: database.url } })
}

async function enqueue(...names: string[]): Promise<void> {
  for (const name of names) await database.pool.query('insert into tasks.greet (name) values ($1)', [name])
}

async function pidsOf(name: string): Promise<number[]> {
  const { rows } = await database.pool.query(
    'select g.pid from greetings g join tasks.greet t on t.id = g.task_id where t.name = $1 order by 1',
    [name],
  )
  return (rows as Array<{ pid: number }>).map(({ pid }) => pid)
}

async function finished(count: number): Promise<void> {
  await waitFor(
    async () => (await database.pool.query('select from tasks.greet where finished_at is not null')).rowCount === count,
    { timeoutMs: 20_000, what: `${count} finished tasks` },
  )
}

describe('pg-tasks worker', () => {
  it('runs the tasks of a TypeScript module, and lets running ones end at SIGTERM', async () => {
    const cli = start(GREET, '--concurrency', '2', '--verbose')
    await cli.line(/\[1\] ready, serves tasks\.greet/)
    await enqueue('quick', 'slow')
    await waitFor(async () => (await pidsOf('slow')).length === 1, { timeoutMs: 20_000 })
    cli.signal('SIGTERM')
    await cli.line(/\[1\] stopping/)
    await database.pool.query('insert into go default values')
    expect(await cli.ended).toEqual({ code: 0, signal: null })
    await finished(2)
    expect(cli.lines.join('\n')).toMatch(/greet \d+ finished/)
    expect(cli.lines.slice(-3).join('\n')).toMatch(/the worker has stopped/)
    expect(cli.lines).toContain('the module is closed')
  })

  it('starts a process again that was killed, and its task comes back', async () => {
    const cli = start(GREET, '--processes', '2')
    await cli.line(/\[1\] ready/)
    await cli.line(/\[2\] ready/)
    await enqueue('slow')
    const pid = await waitFor(async () => (await pidsOf('slow'))[0], { what: 'a process that greets' })
    const before = cli.lines.length
    process.kill(pid, 'SIGKILL')
    await cli.line(/ended by itself \(SIGKILL\); starts again in 200 ms/, before)
    await cli.line(/ready/, before)
    await database.pool.query('insert into go default values')
    await finished(1)
    expect((await pidsOf('slow')).length).toBeGreaterThan(1)
    cli.signal('SIGTERM')
    expect((await cli.ended).code).toBe(0)
  })

  it('starts a process that leaves before it is ready ever later, whatever its exit code', async () => {
    const cli = start(join(WORKERS, 'leaves.mjs'))
    await cli.line(/ended by itself \(exit code 0\); starts again in 200 ms/)
    await cli.line(/ended by itself \(exit code 0\); starts again in 400 ms/)
    cli.signal('SIGTERM')
    expect((await cli.ended).code).toBe(0)
  })

  it('serves metrics and health of each process', async () => {
    const port = 20_000 + (process.pid % 20_000)
    const cli = start(GREET, '--processes', '2', '--metrics-port', String(port))
    await cli.line(new RegExp(`metrics and health at http://127\\.0\\.0\\.1:${port + 1}$`))
    await cli.line(/\[1\] ready/)
    await cli.line(/\[2\] ready/)
    for (const one of [port, port + 1]) {
      const ready = await fetch(`http://127.0.0.1:${one}/ready`)
      expect(ready.status).toBe(200)
      expect(await (await fetch(`http://127.0.0.1:${one}/metrics`)).text()).toContain('greet')
    }
    cli.signal('SIGTERM')
    expect((await cli.ended).code).toBe(0)
  })

  it('ends its processes when it is killed itself', async () => {
    const cli = start(GREET)
    const [, pid] = /pid (\d+)/.exec(await cli.line(/ready/)) ?? []
    cli.signal('SIGKILL')
    await waitFor(() => !isAlive(Number(pid)), { timeoutMs: 20_000, what: 'the end of the orphan' })
  })

  it('takes a signal that comes twice at once for one, as npm passes Ctrl-C on', async () => {
    const cli = start(GREET)
    await cli.line(/ready/)
    await enqueue('slow')
    await waitFor(async () => (await pidsOf('slow')).length === 1, { timeoutMs: 20_000 })
    cli.signal('SIGINT')
    cli.signal('SIGTERM')
    await cli.line(/stopping/)
    await database.pool.query('insert into go default values')
    await finished(1)
    expect((await cli.ended).code).toBe(0)
  })

  it('ends at once at a second signal, with exit code 130', async () => {
    const cli = start(GREET, '--json')
    const ready = JSON.parse(await cli.line(/"ready/))
    expect(ready).toMatchObject({ level: 'info', process: 1, message: 'ready, serves tasks.greet' })
    await enqueue('slow')
    await waitFor(async () => (await pidsOf('slow')).length === 1, { timeoutMs: 20_000 })
    cli.signal('SIGINT')
    await cli.line(/"stopping"/)
    const repeated = setInterval(() => cli.signal('SIGINT'), 100)
    try {
      expect((await cli.ended).code).toBe(130)
    } finally {
      clearInterval(repeated)
    }
    expect(isAlive(ready.pid)).toBe(false)
  })

  it('runs JavaScript, and tells why a task did not succeed', async () => {
    await database.pool.query('alter table tasks.greet add column tone text')
    const cli = start(join(WORKERS, 'plain.mjs'))
    await cli.line(/ready/)
    await enqueue('world')
    await cli.line(/^hello world$/)
    await finished(1)
    cli.signal('SIGTERM')
    expect((await cli.ended).code).toBe(0)
  })

  it.each([
    [['nowhere.ts'], 2, 'There is no module nowhere.ts.'],
    [[join(WORKERS, 'empty.mjs')], 1, 'No task is exported'],
    [[join(WORKERS, 'plain.mjs')], 1, 'lacks tone, which the code expects'],
  ])('gives up where it can never start: %j', async (args, exitCode, message) => {
    const { code, stderr } = await runCli(['worker', ...args], { env: { DATABASE_URL: database.url } })
    expect({ code, stderr }).toEqual({ code: exitCode, stderr: expect.stringContaining(message) })
  })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
