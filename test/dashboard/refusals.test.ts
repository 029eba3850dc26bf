import { beforeAll, expect, it } from 'vitest'
import { createDatabase } from '../support/test-database.js'
import { createSampleTypes } from './support/sample-types.js'
import { apiOf, serveDashboard } from './support/serve-dashboard.js'

const TOKEN = 'a-token-of-some-length'
const database = await createDatabase()
const connectionString = database.url

beforeAll(async () => {
  await createSampleTypes(database.pool)
})

it('who may only look previews occurrences, and neither writes nor removes a schedule that is called preview', async () => {
  const { url } = await serveDashboard({ connectionString, readOnly: true })
  const api = await apiOf(url)
  await database.pool.query(`select tasks.schedule('preview', 'tasks', 'nightly_report', every => '1 hour')`)
  const timing = { everyMs: 60_000 }
  const statuses = [
    await api('PUT', 'schedules/preview', { schema: 'tasks', table: 'nightly_report', timing }),
    await api('DELETE', 'schedules/preview'),
    await api('POST', 'schedules/preview/trigger', {}),
    await api('POST', 'schedules/preview', { timing }),
  ].map(({ status }) => status)
  expect(statuses).toEqual([403, 403, 403, 200])
  const { rows } = await database.pool.query('select extract(epoch from every)::integer as every from tasks.schedules')
  expect(rows).toEqual([{ every: 3_600 }])
})

it('a sign-in that is larger than any token is not taken in', async () => {
  const { url } = await serveDashboard({ connectionString, token: TOKEN })
  const body = new URLSearchParams({ token: TOKEN, more: 'x'.repeat(10_000) })
  const response = await fetch(`${url}login`, { method: 'POST', redirect: 'manual', body })
  expect(response.status).toBe(413)
  expect(response.headers.get('set-cookie')).toBeNull()
})

it('a range that charts don’t have is the asker’s fault, whatever objects are made of', async () => {
  const api = await apiOf((await serveDashboard({ connectionString })).url)
  for (const range of ['2h', 'constructor']) {
    expect((await api('GET', `types/tasks/send_invoice/charts?range=${range}`)).status).toBe(400)
  }
})

it('a filter whose percent signs make no sense is the asker’s fault', async () => {
  const { url } = await serveDashboard({ connectionString })
  const api = await apiOf(url)
  const refused = await api('GET', `types/tasks/send_invoice/tasks?filter=${encodeURIComponent('%zz:eq:1')}`)
  expect(refused).toMatchObject({ status: 400, json: { code: 'BAD_REQUEST' } })
})

it('the audit tells what was set, and nothing else that was sent', async () => {
  const { url } = await serveDashboard({ connectionString })
  const api = await apiOf(url)
  const type = 'types/tasks/send_invoice/settings'
  expect(await api('POST', `${type}/pause`, { reason: 'holiday', more: 'x' })).toMatchObject({ status: 200 })
  expect(await api('POST', `${type}/rate`, { count: 5 })).toMatchObject({ status: 200 })
  expect(await api('POST', `${type}/resume`, { more: 'x' })).toMatchObject({ status: 200 })
  const { rows } = await database.pool.query('select action, details from tasks.audit order by id')
  expect(rows).toEqual([
    { action: 'pause', details: { reason: 'holiday' } },
    { action: 'rate', details: { count: 5, perMs: 1_000, burst: 1 } },
    { action: 'resume', details: {} },
  ])
})
