import { createDashboard, type Dashboard } from '@pg-tasks/dashboard'
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { createDatabase } from '../support/test-database.js'
import { createSampleTypes } from './support/sample-types.js'

const database = await createDatabase()
const TOKEN = 'a-token-of-some-length'

beforeAll(async () => {
  await createSampleTypes(database.pool)
})

function dashboardOf(): Dashboard {
  const dashboard = createDashboard({ pool: database.pool, token: TOKEN, refreshIntervalMs: 100 })
  onTestFinished(() => dashboard.close())
  return dashboard
}

async function openStream(dashboard: Dashboard): Promise<ReadableStreamDefaultReader<string>> {
  const request = new Request('http://localhost/api/events', { headers: { authorization: `Bearer ${TOKEN}` } })
  const { body } = await dashboard.fetch(request)
  return (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
}

/** Reads until an event has come, or the stream has ended. */
async function readUntil(reader: ReadableStreamDefaultReader<string>, event: string): Promise<boolean> {
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return false
    if (value.includes(`event: ${event}\n`)) return true
  }
}

it('the figures come again to whoever looks after the last one has left', async () => {
  const dashboard = dashboardOf()
  const first = await openStream(dashboard)
  expect(await readUntil(first, 'tick')).toBe(true)
  await first.cancel()
  const second = await openStream(dashboard)
  expect(await readUntil(second, 'tick')).toBe(true)
  await second.cancel()
})

it('a dashboard that is closed keeps no process alive for the sake of those who look', async () => {
  const [started, cleared] = [vi.spyOn(globalThis, 'setInterval'), vi.spyOn(globalThis, 'clearInterval')]
  onTestFinished(() => {
    vi.restoreAllMocks()
  })
  const dashboard = dashboardOf()
  const reader = await openStream(dashboard)
  const intervals = started.mock.results.map(({ value }) => value)
  expect(intervals).toHaveLength(1)
  await dashboard.close()
  expect(await readUntil(reader, 'nothing')).toBe(false)
  expect(cleared.mock.calls.map(([interval]) => interval)).toEqual(intervals)
})
