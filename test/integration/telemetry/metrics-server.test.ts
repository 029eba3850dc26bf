import { once } from 'node:events'
import { connect } from 'node:net'
import { startMetricsServer } from '@pg-tasks/client/metrics'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startProxy } from '../../support/proxy.js'
import { createTaskType, insertTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { newWorker, taskOf, workersAsleep } from '../worker/start-worker.js'

let database: TestDatabase
const closing: Array<{ close(): Promise<void> }> = []

beforeAll(async () => {
  database = await createDatabase()
})

afterEach(async () => {
  await Promise.all(closing.splice(0).map((server) => server.close()))
})

async function serve(...args: Parameters<typeof startMetricsServer>) {
  const server = await startMetricsServer(args[0], { port: 0, ...args[1] })
  closing.push(server)
  return server
}

async function get(url: string): Promise<{ status: number; body: string; type: string | null }> {
  const response = await fetch(url)
  return { status: response.status, body: await response.text(), type: response.headers.get('content-type') }
}

/** The value of a series, by its name and labels as they stand in the text. */
function seriesOf(text: string, series: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

describe('the metrics server', () => {
  it('tells what is in the database, what the worker does and what it has done', async () => {
    await createTaskType(database.pool, 'measured', { maxRetries: 0 })
    const task = taskOf('measured', async ({ id }) => {
      if (id === '2') throw new Error('always')
    })
    const recorded = newWorker({ connectionString: database.url }, [task, 1])
    const { url } = await serve(recorded.worker)
    await database.pool.query(`insert into tasks.measured (planned_to) values
      (now() - interval '90 s'), (now()), (now() + interval '1 hour'), (now() + interval '1 hour')`)
    recorded.running = recorded.worker.run()
    await Promise.all([recorded.seen('finished'), recorded.seen('failed')])
    const { status, body, type } = await get(`${url}/metrics`)
    expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
    const labels = 'schema="tasks",table="measured"'
    expect(seriesOf(body, `pg_tasks_tasks{${labels},state="scheduled"}`)).toBe(2)
    expect(seriesOf(body, `pg_tasks_tasks{${labels},state="failed"}`)).toBe(1)
    expect(seriesOf(body, `pg_tasks_tasks{${labels},state="ready"}`)).toBe(0)
    expect(seriesOf(body, `pg_tasks_oldest_due_seconds{${labels}}`)).toBe(0)
    expect(seriesOf(body, `pg_tasks_attempts_total{${labels}}`)).toBe(2)
    expect(seriesOf(body, `pg_tasks_failures_total{${labels}}`)).toBe(1)
    expect(seriesOf(body, `pg_tasks_run_seconds_count{${labels},outcome="finished"}`)).toBe(1)
    expect(seriesOf(body, `pg_tasks_wait_seconds_count{${labels}}`)).toBe(2)
    expect(seriesOf(body, `pg_tasks_wait_seconds_bucket{${labels},le="60"}`)).toBe(1)
    expect(seriesOf(body, `pg_tasks_wait_seconds_bucket{${labels},le="+Inf"}`)).toBe(2)
    expect(seriesOf(body, 'pg_tasks_worker_running')).toBe(1)
    await recorded.worker.stop()
    expect(seriesOf((await get(`${url}/metrics`)).body, 'pg_tasks_worker_running')).toBe(0)
  })

  it('tells how long the oldest task has been due, and how late a sleeping worker was woken', async () => {
    await createTaskType(database.pool, 'held_up')
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const recorded = newWorker({ connectionString: database.url }, [taskOf('held_up', () => held), 1])
    const { url } = await serve(recorded.worker)
    recorded.running = recorded.worker.run()
    await workersAsleep(database.pool, 'held_up')
    await insertTasks(database.pool, 'held_up')
    await recorded.seen('started')
    await database.pool.query(`insert into tasks.held_up (planned_to) values (now() - interval '10 min')`)
    const { body } = await get(`${url}/metrics`)
    const labels = 'schema="tasks",table="held_up"'
    expect(seriesOf(body, `pg_tasks_oldest_due_seconds{${labels}}`)).toBeGreaterThanOrEqual(600)
    expect(seriesOf(body, `pg_tasks_tasks{${labels},state="running"}`)).toBe(1)
    expect(seriesOf(body, `pg_tasks_worker_handlers{${labels}}`)).toBe(1)
    expect(seriesOf(body, `pg_tasks_wake_latency_seconds_count{${labels}}`)).toBe(1)
    release()
    await recorded.worker.stop()
  })

  it('is live from the beginning, ready while it works, and neither after the end', async () => {
    await createTaskType(database.pool, 'healthy')
    const recorded = newWorker({ connectionString: database.url }, [taskOf('healthy'), 1])
    const { url } = await serve(recorded.worker)
    const status = async (path: string) => (await get(`${url}${path}`)).status
    expect([await status('/live'), await status('/ready')]).toEqual([200, 503])
    recorded.running = recorded.worker.run()
    await recorded.seen('ready')
    expect([await status('/live'), await status('/ready')]).toEqual([200, 200])
    await recorded.worker.stop()
    expect([await status('/live'), await status('/ready')]).toEqual([503, 503])
    expect(JSON.parse((await get(`${url}/ready`)).body)).toMatchObject({
      ok: false,
      problems: ['the worker is stopped'],
      worker: { state: 'stopped' },
    })
  })

  it('stays live and tells its own metrics while the database is away', async () => {
    await createTaskType(database.pool, 'cut_off')
    const proxy = await startProxy(database.url)
    const recorded = newWorker({ connectionString: proxy.url }, [taskOf('cut_off'), 1])
    const { url } = await serve(recorded.worker)
    recorded.running = recorded.worker.run()
    await recorded.seen('ready')
    await proxy.down()
    const notReady = await waitFor(
      async () => {
        const { status, body } = await get(`${url}/ready`)
        return status === 503 && body.includes('the database does not answer') ? body : undefined
      },
      { timeoutMs: 20_000 },
    )
    expect(JSON.parse(notReady)).toMatchObject({ ok: false, worker: { database: { answers: false } } })
    expect((await get(`${url}/live`)).status).toBe(200)
    const { body } = await get(`${url}/metrics`)
    expect(seriesOf(body, 'pg_tasks_worker_database_answers')).toBe(0)
    expect(body).not.toContain('pg_tasks_tasks{')
    await proxy.pass()
    await waitFor(async () => (await get(`${url}/ready`)).status === 200, { timeoutMs: 20_000 })
    await recorded.worker.stop()
    await proxy.close()
  })

  it('knows its paths and methods', async () => {
    const { url } = await serve(newWorker({ connectionString: database.url }).worker)
    expect((await get(`${url}/`)).status).toBe(404)
    expect((await get(`${url}/live?verbose`)).status).toBe(200)
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405)
    const head = await fetch(`${url}/metrics`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  it('closes although a client keeps its connection, and leaves the port free', async () => {
    const { worker } = newWorker({ connectionString: database.url })
    const server = await startMetricsServer(worker, { port: 0 })
    const port = Number(new URL(server.url).port)
    const idle = connect(port, '127.0.0.1')
    await once(idle, 'connect')
    const ended = once(idle, 'close')
    idle.resume()
    await Promise.all([server.close(), server.close(), ended])
    await serve(worker, { port })
  })

  it('refuses a port that is taken, and options that it does not know', async () => {
    const { worker } = newWorker({ connectionString: database.url })
    const { url } = await serve(worker)
    await expect(startMetricsServer(worker, { port: Number(new URL(url).port) })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    })
    await expect(startMetricsServer(worker, { prt: 1 } as never)).rejects.toThrow(/Did you mean "port"/)
  })
})
