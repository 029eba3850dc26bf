import { type Claimed, Task, type TaskContext, Worker } from '@pg-tasks/client'
import { startDashboard } from '@pg-tasks/dashboard'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { axeViolations } from './support/accessibility.js'
import { useBrowser } from './support/browser.js'
import { createSampleTypes, enqueueInvoice } from './support/sample-types.js'
import { serveDashboard } from './support/serve-dashboard.js'

const database = await createDatabase()
const connectionString = database.url
const open = useBrowser()

class SendInvoice extends Task<{ order_id: string; email: string }> {
  override async run(task: Claimed<{ order_id: string; email: string }>, { once, signal }: TaskContext): Promise<void> {
    await once('render', async () => 'done')
    if (task.email === 'bad@example.com') throw new Error('The mail server refuses bad@example.com')
    if (task.email === 'slow@example.com') {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    }
  }
}

const worker = new Worker({ connectionString, handleSignals: false, stopTimeoutMs: 0, abortGraceMs: 500 })
let running: Promise<void>
let failedId: string
let runningId: string

/** Each page with something that only real data can show there. */
function pages(): ReadonlyArray<readonly [path: string, heading: string, shows: readonly string[]]> {
  return [
    ['', 'Overview', ['send_invoice', 'nightly_report', 'oldest due', 'running']],
    [
      'types/tasks/send_invoice',
      'send_invoice',
      ['order_id', 'numeric(10,2)', 'c@example.com', 'finished', 'Wait until started'],
    ],
    [
      'types/tasks/send_invoice?state=failed',
      'send_invoice',
      ['bad@example.com', 'last_error', 'The mail server refuses'],
    ],
    [
      `types/tasks/send_invoice/${failedId}`,
      `Task ${failedId} failed`,
      ['Attempt 1: retried', 'Attempt 2: failed', 'Step “render” done', 'The mail server refuses', 'Created'],
    ],
    [
      `types/tasks/send_invoice/${runningId}`,
      `Task ${runningId} running`,
      ['Attempt 1: started', 'Lease until', worker.id.slice(0, 8)],
    ],
    ['schedules', 'Schedules', ['report.daily', '0 3 * * *', 'Europe/Berlin', 'every 1 h']],
    ['schedules/report.hourly', 'report.hourly active', ['Next occurrences', 'by hand', 'enqueued']],
    ['workers', 'Workers', [worker.id.slice(0, 8), 'pg-tasks worker', 'send_invoice', 'asleep', 'Lag']],
    ['health', 'Health', ['Paused types', 'nightly_report', 'Checks without findings']],
    ['audit', 'Audit', ['trigger_schedule', 'report.hourly', 'local']],
  ]
}

beforeAll(async () => {
  await createSampleTypes(database.pool)
  await database.pool.query(`
    select tasks.schedule('report.daily', 'tasks', 'nightly_report', cron => '0 3 * * *', timezone => 'Europe/Berlin');
    select tasks.schedule('report.hourly', 'tasks', 'nightly_report', every => '1 hour')`)
  for (let n = 1; n <= 70; n += 1)
    await enqueueInvoice(database.pool, { order_id: n, email: 'c@example.com', amount: n })
  await enqueueInvoice(database.pool, { planned_to: new Date(Date.now() + 86_400_000) })
  failedId = await enqueueInvoice(database.pool, { email: 'bad@example.com' })
  runningId = await enqueueInvoice(database.pool, { email: 'slow@example.com' })
  await database.pool.query(`select tasks.pause('tasks', 'nightly_report', 'for the pictures')`)
  await database.pool.query(`insert into tasks.nightly_report (planned_to) values (now() - interval '1 hour')`)
  worker.add(new SendInvoice({ schema: 'tasks', table: 'send_invoice' }), 4)
  running = worker.run()
  await waitFor(
    async () => {
      const { rows } = await database.pool.query(
        `select count(*) filter (where finished_at is not null)::integer as finished, count(*) filter (where failed_at is not null)::integer as failed,
           count(*) filter (where started_at is not null and finished_at is null and failed_at is null)::integer as running from tasks.send_invoice`,
      )
      const [row] = rows
      return row.finished === 70 && row.failed === 1 && row.running === 1
    },
    { timeoutMs: 30_000, what: 'the worker to be through' },
  )
  const dashboard = await startDashboard({ connectionString, port: 0 })
  const { csrfToken } = (await (await fetch(`${dashboard.url}api/session`)).json()) as { csrfToken: string }
  await fetch(`${dashboard.url}api/schedules/report.hourly/trigger`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-csrf-token': csrfToken },
    body: '{}',
  })
  await dashboard.close()
})

afterAll(async () => {
  await worker.stop()
  await running
})

describe('each page', () => {
  it('shows what a running worker has made of the tasks', async () => {
    const { url } = await serveDashboard({ connectionString })
    for (const [path, heading, shows] of pages()) {
      const { page } = await open(`${url}${path}`)
      await untilShown(page, shows)
      expect((await page.getByRole('heading', { level: 1 }).textContent())?.replaceAll(/\s+/g, ' ')).toBe(heading)
    }
  })

  it('is accessible by WCAG 2.2 AA, light and dark', { timeout: 180_000 }, async () => {
    const { url } = await serveDashboard({ connectionString })
    const found: string[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await open(url, { colorScheme, bypassCSP: true })
      for (const [path, , shows] of pages()) {
        await page.goto(`${url}${path}`)
        await untilShown(page, shows)
        for (const violation of await axeViolations(page)) found.push(`${colorScheme} ${path} ${violation}`)
      }
    }
    expect(found).toEqual([])
  })

  it('is accessible in its dialogs, its menus and at the sign-in too', { timeout: 180_000 }, async () => {
    const { url } = await serveDashboard({ connectionString })
    const guarded = await serveDashboard({ connectionString, token: 'a-token-of-some-length' })
    const found: string[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await open(`${url}types/tasks/send_invoice`, { colorScheme, bypassCSP: true })
      const look = async (what: string): Promise<void> => {
        for (const violation of await axeViolations(page)) found.push(`${colorScheme} ${what} ${violation}`)
      }
      for (const button of ['Enqueue…', 'Pause…', 'Limits…', 'Clean…']) {
        await page.getByRole('button', { name: button }).click()
        await page.getByRole('dialog').waitFor()
        await look(button)
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      }
      await page.getByText('Columns', { exact: true }).click()
      await look('columns')
      await page.keyboard.press('Escape')
      await page.getByText('All of these').click()
      await page.getByRole('button', { name: 'Reset…' }).click()
      await page.getByText('are selected').waitFor()
      await look('bulk')
      await page.goto(`${url}schedules`)
      await page.getByRole('button', { name: 'New schedule…' }).click()
      await page.getByLabel('region').waitFor()
      await look('schedule')
      await page.goto(guarded.url)
      await page.getByLabel('Token').fill('wrong')
      await look('sign-in')
    }
    expect(found).toEqual([])
  })

  it('fits 360 pixels, in Russian as well', { timeout: 120_000 }, async () => {
    const { url } = await serveDashboard({ connectionString })
    const { page } = await open(url, { viewport: { width: 360, height: 740 }, locale: 'ru-RU' })
    for (const [path, , shows] of pages()) {
      await page.goto(`${url}${path}`)
      await untilShown(page, shows.filter((text) => text.includes('_') || text.includes('.')).slice(0, 1))
      const { wide, inner } = (await page.evaluate(
        '({ wide: document.documentElement.scrollWidth, inner: window.innerWidth })',
      )) as { wide: number; inner: number }
      expect([path, wide <= inner]).toEqual([path, true])
    }
  })

  it('speaks Russian where the browser does, and English once that is chosen', async () => {
    const { url } = await serveDashboard({ connectionString })
    const { page } = await open(url, { locale: 'ru-RU' })
    await page.getByRole('heading', { name: 'Обзор' }).waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('ru')
    const cyrillic = await page.locator('body').textContent()
    expect(cyrillic).not.toMatch(/\b(Overview|Schedules|ready|running|failed)\b/)
    await page.locator('.preferences summary').click()
    await page.getByLabel('Язык').selectOption('en')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
  })

  it('shows times in the browser’s zone or in UTC', async () => {
    const { rows } = await database.pool.query(
      `select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as utc, to_char(created_at at time zone 'Europe/Berlin', 'YYYY-MM-DD HH24:MI:SS') as berlin
       from tasks.send_invoice where id = $1`,
      [failedId],
    )
    const [{ utc, berlin }] = rows
    const { url } = await serveDashboard({ connectionString })
    const { page } = await open(`${url}types/tasks/send_invoice/${failedId}`)
    await page.locator('.timeline .created').getByText(berlin).waitFor()
    await page.locator('.preferences summary').click()
    await page.getByLabel('Times').selectOption('utc')
    await page.locator('.timeline .created').getByText(utc).waitFor()
  })

  it('loads less than 150 kB of script before it is shown', async () => {
    const { url } = await serveDashboard({ connectionString })
    const { page } = await open('about:blank')
    const lengths: Array<Promise<number>> = []
    page.on('response', (response) => {
      if (response.request().resourceType() === 'script') lengths.push(response.body().then((body) => body.length))
    })
    await page.goto(url)
    await page.getByText('send_invoice').waitFor()
    const bytes = (await Promise.all(lengths)).reduce((total, length) => total + length, 0)
    expect(bytes).toBeGreaterThan(20_000)
    expect(bytes).toBeLessThan(150_000)
  })

  it('can be used with the keyboard alone', async () => {
    const { url } = await serveDashboard({ connectionString })
    const { page } = await open(url)
    await page.getByText('send_invoice').first().waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to content')
    await page.keyboard.press('Enter')
    // From the content: the first link there is the first type's.
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement?.textContent')).toContain('nightly_report')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'nightly_report' }).waitFor()
    const enqueue = page.getByRole('button', { name: 'Enqueue…' })
    await enqueue.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('Enqueue…')
  })
})

/** Until the page's own part has these texts. */
async function untilShown(page: Page, texts: readonly string[]): Promise<void> {
  const main = page.locator('main')
  await waitFor(
    async () => {
      const text = (await main.textContent()) ?? ''
      return texts.every((one) => text.includes(one))
    },
    { timeoutMs: 15_000, what: `${page.url()} to show ${texts.join(', ')}` },
  )
}

describe('the tasks of a type', () => {
  it('are paged, and the address keeps state, filters, order and page', async () => {
    const { url } = await serveDashboard({ connectionString })
    const { page } = await open(`${url}types/tasks/send_invoice`)
    await page.getByRole('link', { name: /^finished/ }).click()
    await waitFor(async () => (await page.locator('tbody tr').count()) === 50, { what: 'a page of 50' })
    await page.getByRole('button', { name: 'Next page' }).click()
    await waitFor(async () => (await page.locator('tbody tr').count()) === 20, { what: 'the rest' })
    await page.getByRole('button', { name: 'First page' }).click()
    await page.getByRole('button', { name: /^order_id/ }).click()
    await waitFor(async () => (await page.locator('tbody tr td:nth-child(4)').first().textContent()) === '70', {
      what: 'the largest first',
    })
    await page.getByLabel('Column', { exact: true }).selectOption('amount')
    await page.getByLabel('Condition').selectOption('gt')
    await page.getByLabel('Value').fill('67.5')
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await waitFor(async () => (await page.locator('tbody tr').count()) === 3, { what: 'three large ones' })
    expect(page.url()).toContain('state=finished&order=-order_id&filter=amount%3Agt%3A67.5')
    await page.reload()
    await waitFor(async () => (await page.locator('tbody tr').count()) === 3, { what: 'the same after a reload' })
    await page.getByRole('button', { name: 'Remove filter amount > 67.5' }).click()
    await waitFor(async () => (await page.locator('tbody tr').count()) === 50, { what: 'all again' })
    await page.goBack()
    await waitFor(async () => (await page.locator('tbody tr').count()) === 3, { what: 'the filter again' })
  })

  it('have the columns that are chosen', async () => {
    const { url } = await serveDashboard({ connectionString })
    const { page } = await open(`${url}types/tasks/send_invoice`)
    await page.getByText('Columns', { exact: true }).click()
    await page.getByLabel('trace_id uuid').check()
    await page.getByRole('columnheader', { name: /trace_id/ }).waitFor()
    await page.getByLabel('email text').uncheck()
    await page.getByRole('columnheader', { name: /email/ }).waitFor({ state: 'detached' })
    expect(page.url()).toContain('columns=')
  })
})

it('a token opens the pages, and signing out closes them', async () => {
  const { url } = await serveDashboard({ connectionString, user: 'ada', token: 'a-token-of-some-length' })
  const { page } = await open(url, { mayComplain: true })
  await page.getByLabel('Token').fill('another-token-of-length')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').getByText('That is not the token.').waitFor()
  await page.getByLabel('Token').fill('a-token-of-some-length')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.locator('.preferences summary').click()
  await page.getByText('Signed in as ada').waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Token').waitFor()
  await page.goto(`${url}types/tasks/send_invoice`)
  await page.getByLabel('Token').waitFor()
})

it('who may only look sees no buttons that act', async () => {
  const { url } = await serveDashboard({ connectionString, readOnly: true })
  const { page } = await open(`${url}types/tasks/send_invoice`)
  await page.getByText('Read only').waitFor()
  await page.getByText('c@example.com').first().waitFor()
  expect(await page.getByRole('button', { name: /^(Enqueue|Pause|Limits|Clean)/ }).count()).toBe(0)
  expect(await page.getByText('All of these').count()).toBe(0)
  await page.goto(`${url}types/tasks/send_invoice/${runningId}`)
  await page.getByText('Attempt 1: started').waitFor()
  expect(await page.locator('.heading button').count()).toBe(0)
})

describe('a page without anything to show', () => {
  it('says what to do', async () => {
    const empty = await createDatabase()
    const { url } = await serveDashboard({ connectionString: empty.url })
    const { page } = await open(url)
    await page.getByText('No task type is registered yet.').waitFor()
    await page.getByText('tasks.register').waitFor()
    for (const [path, text] of [
      ['schedules', 'No schedule is there yet.'],
      ['workers', 'No worker has a lease, and none sleeps.'],
      ['audit', 'Nobody has acted here yet.'],
      ['types/tasks/nothing', 'There is no such task type.'],
      ['nowhere', 'There is no such page.'],
    ] as const) {
      const { page: other } = await open(`${url}${path}`, { mayComplain: true })
      await other.getByText(text).first().waitFor()
    }
  })
})
