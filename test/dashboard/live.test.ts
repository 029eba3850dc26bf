import { beforeAll, expect, it } from 'vitest'
import { createDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { useBrowser } from './support/browser.js'
import { createSampleTypes, enqueueInvoice } from './support/sample-types.js'
import { serveDashboard } from './support/serve-dashboard.js'

const database = await createDatabase()
const connectionString = database.url
const open = useBrowser()

/** Figures are read less often where reading takes long, as on a machine that others use. */
const SOON_MS = 20_000

beforeAll(async () => {
  await createSampleTypes(database.pool)
})

it('the overview counts a task that is enqueued elsewhere, without a reload', async () => {
  const { url } = await serveDashboard({ connectionString })
  const { page } = await open(url)
  let loads = 0
  page.on('load', () => {
    loads += 1
  })
  await page.getByText('Live', { exact: true }).waitFor()
  const ready = page.getByRole('link', { name: /^send_invoice: ready/ })
  await waitFor(async () => (await ready.textContent()) === '0', { timeoutMs: SOON_MS, what: 'none' })
  await enqueueInvoice(database.pool)
  await waitFor(async () => (await ready.textContent()) === '1', { timeoutMs: SOON_MS, what: 'one' })
  await database.pool.query('update tasks.send_invoice set canceled = true, canceled_at = now()')
  await waitFor(async () => (await ready.textContent()) === '0', { timeoutMs: SOON_MS, what: 'none again' })
  expect(loads).toBe(0)
})

it('an announcement in the database makes the page fresh sooner than the clock would', async () => {
  const { url } = await serveDashboard({ connectionString, refreshIntervalMs: 8_000 })
  const { page } = await open(url)
  await page.getByText('Live', { exact: true }).waitFor()
  await waitFor(
    async () =>
      (
        await database.pool.query(
          `select from pg_stat_activity where datname = current_database() and query like 'listen pg_tasks;%'`,
        )
      ).rows.length > 0,
    {
      what: 'the dashboard to listen',
    },
  )
  const begun = performance.now()
  await enqueueInvoice(database.pool)
  const ready = page.getByRole('link', { name: /^send_invoice: ready/ })
  await waitFor(async () => (await ready.textContent()) === '1', { timeoutMs: 7_500, what: 'one' })
  // The clock alone would come at 8 s after the page was opened, and every 8 s from then on.
  expect(performance.now() - begun).toBeLessThan(7_500)
})

it('a task page follows its task through its states', async () => {
  const id = await enqueueInvoice(database.pool, { planned_to: new Date(Date.now() - 1_000) })
  const { url } = await serveDashboard({ connectionString })
  const { page } = await open(`${url}types/tasks/send_invoice/${id}`)
  await page.locator('h1').getByText('ready').waitFor()
  await database.pool.query('update tasks.send_invoice set canceled = true, canceled_at = now() where id <> $1', [id])
  await database.pool.query('select id from tasks.acquire_tasks_send_invoice(1)')
  await page.locator('h1').getByText('running').waitFor()
  await database.pool.query('select tasks.finish_tasks_send_invoice($1)', [id])
  await page.locator('h1').getByText('finished').waitFor()
})

it('says when there is no connection, and is live again by itself', async () => {
  const { url, close } = await serveDashboard({ connectionString })
  const { page } = await open(url, { mayComplain: true })
  await page.getByText('Live', { exact: true }).waitFor()
  await close()
  await page.getByText('No connection').waitFor()
  await serveDashboard({ connectionString, port: Number(new URL(url).port) })
  await page.getByText('Live', { exact: true }).waitFor()
})

it('nothing is asked of the database while nobody looks', async () => {
  const { url } = await serveDashboard({ connectionString })
  const { page } = await open(url)
  await page.getByText('Live', { exact: true }).waitFor()
  await page.close()
  await waitFor(
    async () =>
      (
        await database.pool.query(
          `select from pg_stat_activity where datname = current_database() and query like 'listen pg_tasks;%'`,
        )
      ).rows.length === 0,
    {
      what: 'the listener to end',
    },
  )
  // Four intervals without a statement.
  await waitFor(
    async () => {
      const { rows } = await database.pool.query(
        `select clock_timestamp() - max(query_start) > interval '1 s' as quiet from pg_stat_activity
         where datname = current_database() and application_name = 'pg-tasks dashboard'`,
      )
      return rows[0].quiet !== false
    },
    { timeoutMs: 10_000, what: 'the dashboard to be quiet' },
  )
})
