import { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resolveConnection } from '../../../packages/client/src/connection/connection-source.js'
import { startProxy, type TestProxy } from '../../support/proxy.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor, within } from '../../support/wait-for.js'
import { APPLICATION, openHandles, recordListener } from './record-listener.js'

let database: TestDatabase
let proxy: TestProxy

beforeAll(async () => {
  database = await createDatabase({ migrations: false })
  // The pool's connection is among the handles that are counted.
  await database.pool.query('select')
  proxy = await startProxy(database.url)
})

afterAll(() => proxy.close())

async function listeningSessions(): Promise<number[]> {
  const { rows } = await database.pool.query<{ pid: number }>(
    'select pid from pg_stat_activity where application_name = $1 and datname = current_database()',
    [APPLICATION],
  )
  return rows.map((row) => row.pid)
}

async function terminateListener(): Promise<void> {
  await database.pool.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and datname = current_database()',
    [APPLICATION],
  )
}

describe('a listener that loses its session', () => {
  it('comes back 50 times with one session and no handle more', async () => {
    const recorded = recordListener(database.url, { backoff: { baseMs: 5, maxMs: 20 } })
    await recorded.started
    const before = openHandles()
    for (let round = 1; round <= 50; round++) {
      await terminateListener()
      await waitFor(() => recorded.ups === round + 1)
    }
    expect(recorded).toMatchObject({ ups: 51, downs: 50 })
    expect(recorded.listener.status).toMatchObject({ listening: true, reconnects: 50 })
    await waitFor(async () => (await listeningSessions()).length === 1)
    expect(openHandles().sockets).toBeLessThanOrEqual(before.sockets)
    expect(openHandles().timers).toBeLessThanOrEqual(before.timers)
    await database.pool.query("notify pg_tasks, 'after'")
    await waitFor(() => recorded.heard.includes('pg_tasks:after'))
  })

  it('tells before and after, so that nothing notified meanwhile is missed', async () => {
    const order: string[] = []
    const recorded = recordListener(database.url, {
      onUp: () => order.push('up'),
      onDown: () => order.push('down'),
      onNotification: (_, payload) => order.push(payload),
    })
    await recorded.started
    await database.pool.query("notify pg_tasks, 'heard'")
    await waitFor(() => order.includes('heard'))
    await terminateListener()
    await database.pool.query("notify pg_tasks, 'perhaps missed'")
    await waitFor(() => recorded.ups === 2)
    await database.pool.query("notify pg_tasks, 'heard again'")
    await waitFor(() => order.includes('heard again'))
    expect(order.filter((one) => one !== 'perhaps missed')).toEqual(['up', 'heard', 'down', 'up', 'heard again'])
    expect(recorded.reasons).toEqual([expect.objectContaining({ code: 'CONNECTION_LOST' })])
  })

  it('goes on trying for ever while the server refuses, and logs about a line per second', async () => {
    const recorded = recordListener(proxy.url, { backoff: { baseMs: 5, maxMs: 20 } })
    await recorded.started
    await proxy.down()
    await waitFor(() => recorded.lines.some((line) => Number(line.fields.repeated) > 5), { timeoutMs: 3_000 })
    expect(recorded.downs).toBe(1)
    expect(recorded.lines.length).toBeLessThanOrEqual(3)
    await proxy.pass()
    await waitFor(() => recorded.ups === 2)
    expect(recorded.listener.status).toMatchObject({ listening: true, reconnects: 1 })
    expect(recorded.lines.at(-1)).toMatchObject({ level: 'info', message: 'Notifications arrive again' })
    await recorded.listener.close()
  })

  it('listens as soon as the server is there, if it was away at the start', async () => {
    await proxy.down()
    const recorded = recordListener(proxy.url)
    expect(await recorded.started).toBe(false)
    expect(recorded).toMatchObject({ ups: 0, downs: 1 })
    await proxy.pass()
    await waitFor(() => recorded.ups === 1)
    expect(recorded.listener.status.reconnects).toBe(0)
    await recorded.listener.close()
  })

  it('is not deaf after LISTEN was cut off on the way back', async () => {
    const recorded = recordListener(proxy.url)
    await recorded.started
    const cut = proxy.cutWhen((data, direction) => direction === 'up' && data.includes('LISTEN pg_tasks_control'))
    await terminateListener()
    await within(cut)
    await proxy.pass()
    await waitFor(() => recorded.ups === 2)
    await database.pool.query("notify pg_tasks_control, 'x'")
    await waitFor(() => recorded.heard.includes('pg_tasks_control:x'))
    await recorded.listener.close()
  })
})

describe('a listener in a black hole', () => {
  it('notices within ping interval and deadline, and replaces the session', async () => {
    const recorded = recordListener(proxy.url, { pingIntervalMs: 300, pingTimeoutMs: 300, connectTimeoutMs: 300 })
    await recorded.started
    const before = openHandles()
    const start = performance.now()
    await proxy.blackhole()
    await waitFor(() => recorded.downs === 1)
    expect(performance.now() - start).toBeLessThan(1_000)
    expect(recorded.reasons[0]?.message).toMatch(/did not answer NOTIFY within 300 ms/)
    await proxy.pass()
    await waitFor(() => recorded.ups === 2, { timeoutMs: 1_000 })
    await waitFor(() => openHandles().sockets <= before.sockets)
    await database.pool.query("notify pg_tasks, 'after'")
    await waitFor(() => recorded.heard.includes('pg_tasks:after'))
    await recorded.listener.close()
  })

  it('does not pile up attempts', async () => {
    const made: Socket[] = []
    const stream = () => {
      const socket = new Socket()
      made.push(socket)
      return socket
    }
    const source = resolveConnection('Listener', { connectionString: proxy.url, connectionConfig: { stream } })
    const deadlines = { pingIntervalMs: 50, pingTimeoutMs: 50, connectTimeoutMs: 50 }
    const recorded = recordListener(proxy.url, { ...deadlines, source, backoff: { baseMs: 5, maxMs: 10 } })
    await recorded.started
    await proxy.blackhole()
    await waitFor(() => {
      expect(made.filter((socket) => !socket.destroyed).length).toBeLessThanOrEqual(1)
      return made.length > 20
    })
    await recorded.listener.close()
    expect(made.filter((socket) => !socket.destroyed)).toEqual([])
    await proxy.pass()
  })

  it('takes no slow network for one', async () => {
    await proxy.delay(40)
    const recorded = recordListener(proxy.url, { pingIntervalMs: 20 })
    await recorded.started
    const pings = new Set<number | undefined>()
    await waitFor(() => pings.add(recorded.listener.status.lastPingAt?.getTime()).size > 5)
    expect(recorded).toMatchObject({ ups: 1, downs: 0 })
    await recorded.listener.close()
    await proxy.pass()
  })

  it('takes no busy process for one', async () => {
    const recorded = recordListener(database.url, { pingIntervalMs: 20, pingTimeoutMs: 50 })
    await recorded.started
    for (let round = 0; round < 10; round++) {
      const seen = recorded.listener.status.lastPingAt
      const until = performance.now() + 150
      while (performance.now() < until);
      await waitFor(() => recorded.listener.status.lastPingAt !== seen)
    }
    expect(recorded).toMatchObject({ ups: 1, downs: 0 })
  })
})

describe('closing a listener', () => {
  const states = {
    'while nothing answers': async (url: string) => {
      const recorded = recordListener(url, { pingIntervalMs: 100, pingTimeoutMs: 60_000, connectTimeoutMs: 60_000 })
      await recorded.started
      const { bytesUp } = proxy.counters
      await proxy.blackhole()
      await waitFor(() => proxy.counters.bytesUp > bytesUp)
      return recorded
    },
    'while it connects to something that does not answer': async (url: string) => {
      await proxy.blackhole()
      const { accepted } = proxy.counters
      const recorded = recordListener(url, { connectTimeoutMs: 60_000 })
      await waitFor(() => proxy.counters.accepted > accepted)
      return recorded
    },
    'while it waits for the next attempt': async (url: string) => {
      await proxy.down()
      const recorded = recordListener(url, { backoff: { baseMs: 60_000, maxMs: 60_000 } })
      await recorded.started
      return recorded
    },
    'while the server holds its answers back': async (url: string) => {
      const recorded = recordListener(url, { pingIntervalMs: 60_000 })
      await recorded.started
      await proxy.hold()
      return recorded
    },
  }

  it.each(Object.entries(states))('ends at once %s, and leaves nothing', async (_, makeState) => {
    const before = openHandles()
    const recorded = await makeState(proxy.url)
    const { ups } = recorded
    const start = performance.now()
    await recorded.listener.close()
    expect(performance.now() - start).toBeLessThan(900)
    await proxy.pass()
    await waitFor(() => openHandles().sockets <= before.sockets)
    expect(openHandles().timers).toBeLessThanOrEqual(before.timers)
    await waitFor(async () => (await listeningSessions()).length === 0)
    expect(recorded.ups).toBe(ups)
    expect(recorded.listener.status.state).toBe('closed')
  })
})
