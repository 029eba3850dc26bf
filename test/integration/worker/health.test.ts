import { inspect } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { createTaskType, insertTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { Latch, newWorker, startWorker, taskOf, workersAsleep } from './start-worker.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

const SILENT_TYPE = {
  error: undefined,
  rowSecurity: false,
  asleep: false,
  running: 0,
  queued: 0,
  unsettled: 0,
  lease: { state: 'none', renewedAt: undefined },
  lastAcquireAt: undefined,
  lagMs: undefined,
}

it('is nothing but the state before run', () => {
  const { worker } = newWorker({ connectionString: database.url }, [taskOf('not_yet'), 1])
  expect(worker.health()).toEqual({
    id: worker.id,
    state: 'new',
    listening: false,
    lastPingAt: undefined,
    reconnects: 0,
    database: { answers: false, lastAnswerAt: undefined, error: undefined },
    types: [{ schema: 'tasks', table: 'not_yet', registered: false, ...SILENT_TYPE }],
  })
})

it('tells of an idle worker that it sleeps, listens, and that the database answers', async () => {
  await createTaskType(database.pool, 'idle')
  const before = Date.now()
  const { worker } = await startWorker({ connectionString: database.url }, [taskOf('idle'), 1])
  await workersAsleep(database.pool, 'idle')
  await waitFor(() => worker.health().types[0]?.asleep)
  const health = worker.health()
  expect(health).toMatchObject({
    state: 'running',
    listening: true,
    reconnects: 0,
    database: { answers: true, error: undefined },
    types: [{ registered: true, error: undefined, running: 0, lease: { state: 'none' }, lagMs: 0 }],
  })
  for (const at of [health.lastPingAt, health.database.lastAnswerAt, health.types[0]?.lastAcquireAt])
    expect(at?.getTime()).toBeGreaterThanOrEqual(before)
})

it('tells what runs, under which lease, and how late it began', async () => {
  await createTaskType(database.pool, 'busy', { timeout: '3 s' })
  await createTaskType(database.pool, 'free')
  const latch = new Latch()
  const recorded = await startWorker(
    { connectionString: database.url },
    [taskOf('busy', () => latch.opened), 2],
    [taskOf('free'), 1],
  )
  await database.pool.query(`insert into tasks.busy (planned_to) values (now() - interval '1 hour'), (now())`)
  await recorded.seen('started', { count: 2 })
  const [busy, free] = recorded.worker.health().types
  expect(busy).toMatchObject({ table: 'busy', running: 2, queued: 0, lease: { state: 'held' } })
  expect(busy?.lagMs).toBeGreaterThanOrEqual(3_600_000)
  expect(free).toMatchObject({ table: 'free', running: 0, lease: { state: 'none' } })
  // Renewed by heartbeats.
  const renewedAt = busy?.lease.renewedAt?.getTime() ?? Number.POSITIVE_INFINITY
  await waitFor(() => Number(recorded.worker.health().types[0]?.lease.renewedAt) > renewedAt)
  latch.open()
  await recorded.seen('finished', { count: 2 })
  await waitFor(() => recorded.worker.health().types[0]?.lease.state === 'none')
  expect(recorded.worker.health().types[0]).toMatchObject({ running: 0, unsettled: 0 })
})

it('tells that a worker stops, what still runs meanwhile, and that it has stopped', async () => {
  await createTaskType(database.pool, 'stops')
  const latch = new Latch()
  const recorded = await startWorker({ connectionString: database.url }, [taskOf('stops', () => latch.opened), 1])
  const { worker } = recorded
  await insertTasks(database.pool, 'stops')
  await recorded.seen('started')
  const stopped = worker.stop()
  expect(worker.health()).toMatchObject({
    state: 'stopping',
    database: { answers: true },
    types: [{ running: 1, lease: { state: 'held' } }],
  })
  latch.open()
  await stopped
  expect(worker.health()).toMatchObject({
    state: 'stopped',
    listening: false,
    database: { answers: false, error: undefined },
    types: [{ asleep: false, running: 0, unsettled: 0, lease: { state: 'none' } }],
  })
})

it('tells which type is in trouble, while the others go on', async () => {
  for (const table of ['dropped', 'revoked', 'well']) await createTaskType(database.pool, table)
  const role = await database.createRole('worker')
  const grant = (table: string) =>
    database.pool.query("select tasks.grant_to($1, 'worker', 'tasks', $2)", [role.name, table])
  for (const table of ['dropped', 'revoked', 'well']) await grant(table)
  const recorded = await startWorker(
    { connectionString: role.url, pollIntervalMs: 200 },
    [taskOf('dropped'), 1],
    [taskOf('revoked'), 1],
    [taskOf('well'), 1],
  )
  await database.pool.query(`drop table tasks.dropped cascade; revoke update on tasks.revoked from ${role.name}`)
  await insertTasks(database.pool, 'revoked')
  const types = () => recorded.worker.health().types
  const troubles = [/not a registered task type|does not exist/, /permission denied/]
  await waitFor(() => troubles.every((trouble, index) => trouble.test(types()[index]?.error ?? '')), {
    timeoutMs: 15_000,
    what: 'the errors of both types',
  })
  for (let round = 1; round <= 3; round++) {
    await insertTasks(database.pool, 'well')
    await recorded.seen('finished', { count: round, where: ({ table }) => table === 'well' })
  }
  expect(types()[2]).toMatchObject({ error: undefined, registered: true })
  expect(recorded.worker.health()).toMatchObject({ state: 'running', listening: true, database: { answers: true } })
  // Mended, both go on by themselves.
  await createTaskType(database.pool, 'dropped')
  await grant('dropped')
  await grant('revoked')
  await insertTasks(database.pool, 'dropped')
  await recorded.seen('finished', { where: ({ table }) => table === 'dropped' })
  await recorded.seen('finished', { where: ({ table }) => table === 'revoked' })
  await waitFor(() => types().every((type) => type.error === undefined && type.registered))
  await database.pool.query(`drop owned by ${role.name}`)
})

it('holds no password, whatever has failed', async () => {
  await createTaskType(database.pool, 'locked_out')
  const role = await database.createRole('locked_out')
  await database.pool.query("select tasks.grant_to($1, 'worker', 'tasks', 'locked_out')", [role.name])
  const recorded = await startWorker({ connectionString: role.url, pollIntervalMs: 100 }, [taskOf('locked_out'), 1])
  await database.pool.query(`alter role ${role.name} password 'another'`)
  await database.pool.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [role.name])
  await waitFor(() => recorded.worker.health().database.error !== undefined)
  const health = recorded.worker.health()
  expect(health.database.answers).toBe(false)
  for (const told of [JSON.stringify(health), inspect(health, { depth: 9 }), inspect(recorded.worker, { depth: 9 })])
    expect(told).not.toContain(`:${new URL(role.url).password}@`)
  await recorded.worker.stop({ timeoutMs: 0 })
  await database.pool.query(`drop owned by ${role.name}`)
})
