import { beforeAll, describe, expect, it } from 'vitest'
import { Listener } from '../../../packages/client/src/listener/listener.js'
import type { ListenerOptions } from '../../../packages/client/src/listener/listener-options.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { APPLICATION, openHandles, recordListener } from './record-listener.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase({ migrations: false })
})

async function listeningSessions(): Promise<number> {
  const { rowCount } = await database.pool.query(
    'select from pg_stat_activity where application_name = $1 and datname = current_database()',
    [APPLICATION],
  )
  return rowCount ?? 0
}

describe('a listener', () => {
  it('hears every payload as it was sent, and takes none for an error', async () => {
    const payloads = ['tasks.mail', '', '{"x":1}', '123', 'not a.real.name', 'null', '"', "o'clock \\ é 😀", '1']
    const { listener, heard, lines, started } = recordListener(database.url)
    expect(await started).toBe(true)
    for (const payload of payloads) await database.pool.query('select pg_notify($1, $2)', ['pg_tasks', payload])
    await database.pool.query('notify pg_tasks_control')
    await database.pool.query('notify another_channel, $$x$$'.replaceAll('$$', "'"))
    await waitFor(() => heard.length > payloads.length)
    expect(heard).toEqual([...payloads.map((payload) => `pg_tasks:${payload}`), 'pg_tasks_control:'])
    expect(lines.filter((line) => line.level !== 'debug')).toEqual([])
    expect(listener.status).toMatchObject({ state: 'listening', listening: true, proven: true, reconnects: 0 })
  })

  it('listens on channels whose names need quotes, spelled exactly', async () => {
    const channels = ['Pg_Tasks-1', 'with "quotes"', 'select', 'ümlaut'.padEnd(50, 'x')]
    const { heard, started } = recordListener(database.url, { channels })
    await started
    for (const channel of channels) await database.pool.query('select pg_notify($1, $2)', [channel, 'x'])
    await database.pool.query("notify Pg_Tasks_1, 'folded'")
    await waitFor(() => heard.length >= channels.length)
    expect(heard).toEqual(channels.map((channel) => `${channel}:x`))
  })

  it('does not wake others with its pings', async () => {
    const one = recordListener(database.url, { pingIntervalMs: 5 })
    const other = recordListener(database.url, { pingIntervalMs: 5 })
    await Promise.all([one.started, other.started])
    const [first, second] = [one.listener.status.lastPingAt, other.listener.status.lastPingAt]
    await waitFor(() => one.listener.status.lastPingAt !== first && other.listener.status.lastPingAt !== second)
    expect([...one.heard, ...other.heard]).toEqual([])
  })

  it('goes on after callbacks that throw or reject, and logs them', async () => {
    const { heard, lines, listener, started } = recordListener(database.url, {
      // As a caller does whose linter doesn't see it.
      onUp: (() => Promise.reject(new Error('up with postgres://u:hunter2@h/d'))) as () => void,
      onNotification: () => {
        throw new Error('notification')
      },
    })
    expect(await started).toBe(true)
    await database.pool.query("notify pg_tasks, '1'")
    await database.pool.query("notify pg_tasks, '2'")
    await waitFor(() => heard.length === 2)
    expect(listener.status.listening).toBe(true)
    expect(lines).toEqual([
      { level: 'error', fields: { reason: 'up with postgres://u:***@h/d' }, message: expect.stringContaining('onUp') },
      { level: 'error', fields: { reason: 'notification' }, message: expect.stringContaining('onNotification') },
    ])
  })

  it('leaves no session, socket or timer when it is closed, and calls nobody any more', async () => {
    await waitFor(async () => (await listeningSessions()) === 0)
    const before = openHandles()
    const recorded = recordListener(database.url)
    await recorded.started
    expect(await listeningSessions()).toBe(1)
    await recorded.listener.close()
    expect(openHandles().sockets).toBeLessThanOrEqual(before.sockets)
    expect(openHandles().timers).toBeLessThanOrEqual(before.timers)
    await waitFor(async () => (await listeningSessions()) === 0)
    expect(recorded).toMatchObject({ ups: 1, downs: 0 })
    expect(recorded.listener.status).toMatchObject({ state: 'closed', listening: false, server: undefined })
    await recorded.listener.close()
    expect(await recorded.listener.start()).toBe(true)
    expect(await listeningSessions()).toBe(0)
  })

  it('can be closed before it was started, and while it starts', async () => {
    const before = openHandles()
    const starting = recordListener(database.url)
    await starting.listener.close()
    expect(await starting.started).toBe(false)
    expect(starting.ups).toBe(0)
    expect(openHandles().sockets).toBeLessThanOrEqual(before.sockets)
  })

  it.each<[string, Partial<ListenerOptions>]>([
    ['channels', { channels: [] }],
    ['channels', { channels: ['x'.repeat(64)] }],
    ['channels', { channels: [''] }],
    ['pingIntervalMs', { pingIntervalMs: 0 }],
    ['pingTimeoutMs', { pingTimeoutMs: Number.NaN }],
    ['onNotification', { onNotification: undefined as never }],
    ['logger', { logger: {} as never }],
    ['pingInterval', { pingInterval: 1 } as never],
  ])('refuses the option %s: %j', (option, options) => {
    const base = { source: {} as never, channels: ['x'], applicationName: 'x', onNotification: () => {} }
    expect(() => new Listener({ ...base, ...options })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', option }),
    )
  })
})
