import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { useBrowser } from './support/browser.js'
import { createSampleTypes, enqueueInvoice } from './support/sample-types.js'
import { apiOf, serveDashboard } from './support/serve-dashboard.js'

const database = await createDatabase()
const connectionString = database.url
const open = useBrowser()

beforeAll(async () => {
  await createSampleTypes(database.pool)
})

async function rowOf(id: string): Promise<Record<string, unknown>> {
  const { rows } = await database.pool.query(
    `select *, tasks.state(planned_to, started_at, finished_at, failed_at, canceled, tasks.clock()) as state from tasks.send_invoice where id = $1`,
    [id],
  )
  return rows[0] as Record<string, unknown>
}

async function audited(action: string): Promise<Record<string, unknown>> {
  const { rows } = await database.pool.query(
    'select actor, action, table_name, target, affected::integer, details from tasks.audit where action = $1 order by id desc limit 1',
    [action],
  )
  return rows[0] as Record<string, unknown>
}

/** Opens a dialog by its button, fills it, and confirms. */
async function confirm(
  page: Page,
  button: string | RegExp,
  fill: (dialog: ReturnType<Page['getByRole']>) => Promise<void> = async () => {},
): Promise<void> {
  await page.getByRole('button', { name: button }).click()
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  await fill(dialog)
  await dialog.locator('button.primary').click()
  await dialog.waitFor({ state: 'detached' })
}

async function run(id: string): Promise<void> {
  await database.pool.query(
    `update tasks.send_invoice set planned_to = now() + interval '1 day' where id <> $1 and started_at is null`,
    [id],
  )
  await database.pool.query('select id from tasks.acquire_tasks_send_invoice(1)')
}

describe('a task', () => {
  it('is canceled with a comment', async () => {
    const id = await enqueueInvoice(database.pool)
    const { url } = await serveDashboard({ connectionString })
    const { page } = await open(`${url}types/tasks/send_invoice/${id}`)
    await confirm(page, 'Cancel…', (dialog) => dialog.getByLabel('Comment').fill('by <b>hand</b>'))
    await page.locator('h1').getByText('canceled').waitFor()
    expect(await rowOf(id)).toMatchObject({ state: 'canceled', comment: 'by <b>hand</b>' })
    expect(await audited('cancel')).toEqual({
      actor: 'local',
      action: 'cancel',
      table_name: 'tasks.send_invoice',
      target: id,
      affected: 1,
      details: null,
    })
  })

  it('is reset, and its steps forgotten if that is asked for', async () => {
    const id = await enqueueInvoice(database.pool)
    await run(id)
    await database.pool.query(
      `insert into tasks.marks (table_id, task_id, step, created_at, attempt, marked_at)
       select 'tasks.send_invoice'::regclass, id, 'render', created_at, 1, now() from tasks.send_invoice where id = $1`,
      [id],
    )
    const { url } = await serveDashboard({ connectionString })
    const { page } = await open(`${url}types/tasks/send_invoice/${id}`)
    await confirm(page, 'Reset…', (dialog) => dialog.getByLabel('Forget which steps are done').check())
    await page.locator('h1').getByText('ready').waitFor()
    expect(await rowOf(id)).toMatchObject({ state: 'ready', execution_count: 0 })
    const { rows } = await database.pool.query('select from tasks.marks where task_id = $1', [id])
    expect(rows).toHaveLength(0)
    expect(await audited('reset')).toMatchObject({ target: id, details: { forgetMarks: true } })
  })

  it('that runs is retried now', async () => {
    const id = await enqueueInvoice(database.pool)
    await run(id)
    const { url } = await serveDashboard({ connectionString })
    const { page } = await open(`${url}types/tasks/send_invoice/${id}`)
    await confirm(page, 'Retry now…')
    await page.locator('h1').getByText('ready').waitFor()
    expect(await rowOf(id)).toMatchObject({ state: 'ready', execution_count: 1, run_token: null })
  })

  it('that is scheduled is run now, edited, and deleted once it has ended', async () => {
    const id = await enqueueInvoice(database.pool, { planned_to: new Date(Date.now() + 86_400_000), amount: 1 })
    const { url } = await serveDashboard({ connectionString })
    const { page } = await open(`${url}types/tasks/send_invoice/${id}`)
    await confirm(page, 'Edit…', async (dialog) => {
      await dialog.getByLabel('email').fill('new@example.com')
      await dialog.getByLabel('amount').fill('')
      await dialog.getByLabel('channel').selectOption('fax')
      await dialog.getByLabel('payload').fill('{"a": [1, 2]}')
      await dialog.getByLabel('tags').fill('{x,"y z"}')
    })
    expect(await rowOf(id)).toMatchObject({
      state: 'scheduled',
      email: 'new@example.com',
      amount: null,
      channel: 'fax',
      payload: { a: [1, 2] },
      tags: ['x', 'y z'],
    })
    expect(await audited('edit')).toMatchObject({
      target: id,
      details: { columns: ['email', 'amount', 'channel', 'payload', 'tags'] },
    })
    await confirm(page, 'Run now…')
    await page.locator('h1').getByText('ready').waitFor()
    expect(await rowOf(id)).toMatchObject({ state: 'ready' })
    await database.pool.query('select tasks.cancel_tasks_send_invoice($1)', [id])
    await page.getByRole('button', { name: 'Delete…' }).waitFor()
    await confirm(page, 'Delete…')
    await waitFor(async () => (await rowOf(id)) === undefined, { what: 'the task to be gone' })
    await page.getByRole('heading', { name: 'send_invoice' }).waitFor()
  })

  it('whose row an open transaction holds is reported, not waited for', async () => {
    const id = await enqueueInvoice(database.pool)
    const holder = await database.client()
    await holder.query('begin')
    await holder.query('select from tasks.send_invoice where id = $1 for update', [id])
    const { url } = await serveDashboard({ connectionString, lockTimeoutMs: 100 })
    const { page } = await open(`${url}types/tasks/send_invoice/${id}`, { mayComplain: true })
    await page.getByRole('button', { name: 'Cancel…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('status').getByText('An open transaction holds this row').waitFor()
    expect(await rowOf(id)).toMatchObject({ state: 'ready' })
    await holder.query('rollback')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.locator('h1').getByText('canceled').waitFor()
  })

  it('that a worker took meanwhile is not edited', async () => {
    const id = await enqueueInvoice(database.pool)
    const { url } = await serveDashboard({ connectionString, refreshIntervalMs: 600_000 })
    const { page } = await open(`${url}types/tasks/send_invoice/${id}`, { mayComplain: true })
    await page.getByRole('button', { name: 'Edit…' }).click()
    await run(id)
    await page.getByRole('dialog').getByLabel('email').fill('late@example.com')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('The task doesn’t wait any more').first().waitFor()
    expect(await rowOf(id)).toMatchObject({ state: 'running', email: 'a@example.com' })
  })
})

describe('a type', () => {
  it('gets a task by a form made from its columns, and says what the database refuses', async () => {
    const { url } = await serveDashboard({ connectionString })
    const { page } = await open(`${url}types/tasks/send_invoice`, { mayComplain: true })
    await page.getByRole('button', { name: 'Enqueue…' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByLabel('order_id').getAttribute('required')).not.toBeNull()
    expect(await dialog.getByLabel('amount').getAttribute('required')).toBeNull()
    await dialog.getByText('refers to shop.orders (id)').waitFor()
    expect(await dialog.getByLabel('channel').locator('option').allTextContents()).toEqual(['–', 'mail', 'post', 'fax'])
    await dialog.getByLabel('order_id').fill('4711')
    await dialog.getByLabel('email').fill('form@example.com')
    await dialog.getByLabel('urgent').selectOption('true')
    await dialog.getByLabel('priority').fill('0')
    await dialog.getByRole('button', { name: 'Enqueue' }).click()
    await page.getByText('violates foreign key constraint').waitFor()
    await dialog.getByLabel('order_id').fill('47')
    await dialog.getByRole('button', { name: 'Enqueue' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { rows } = await database.pool.query(
      `select order_id::integer, urgent, priority, channel, amount from tasks.send_invoice where email = 'form@example.com'`,
    )
    expect(rows).toEqual([{ order_id: 47, urgent: true, priority: 0, channel: 'mail', amount: null }])
    expect(await audited('enqueue')).toMatchObject({
      affected: 1,
      details: { columns: ['order_id', 'email', 'urgent', 'priority'] },
    })
  })

  it('is paused with a reason and resumed', async () => {
    const { url } = await serveDashboard({ connectionString })
    const { page } = await open(`${url}types/tasks/nightly_report`)
    await confirm(page, 'Pause…', (dialog) => dialog.getByLabel('Reason').fill('too loud'))
    await page.locator('h1').getByText('paused').waitFor()
    const read = async () =>
      (
        await database.pool.query(
          `select paused_at is not null as paused, paused_reason from tasks.types where table_name = 'nightly_report'`,
        )
      ).rows[0]
    expect(await read()).toEqual({ paused: true, paused_reason: 'too loud' })
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.locator('h1').getByText('paused').waitFor({ state: 'detached' })
    expect(await read()).toEqual({ paused: false, paused_reason: null })
  })

  it('is limited in concurrency and rate, and freed again', async () => {
    const { url } = await serveDashboard({ connectionString })
    const { page } = await open(`${url}types/tasks/nightly_report`)
    const read = async () =>
      (
        await database.pool.query(
          `select concurrency, rate_count, extract(epoch from rate_interval)::integer as per from tasks.types where table_name = 'nightly_report'`,
        )
      ).rows[0]
    await confirm(page, 'Limits…', async (dialog) => {
      await dialog.getByLabel('Most running at once').fill('3')
      await dialog.getByLabel('Most starts').fill('100')
      await dialog.getByLabel('per').selectOption('per minute')
    })
    expect(await read()).toEqual({ concurrency: 3, rate_count: 100, per: 60 })
    await page.getByText('100 / 1 min').waitFor()
    await confirm(page, 'Limits…', (dialog) => dialog.getByLabel('Most running at once').fill(''))
    expect(await read()).toEqual({ concurrency: null, rate_count: 100, per: 60 })
  })

  it('keeps its burst when its rate is changed', async () => {
    await database.pool.query(`select tasks.limit_rate('tasks', 'nightly_report', 50, '1 s', 20)`)
    const { url } = await serveDashboard({ connectionString })
    const { page } = await open(`${url}types/tasks/nightly_report`)
    await confirm(page, 'Limits…', (dialog) => dialog.getByLabel('Most starts').fill('60'))
    const read = async () =>
      (await database.pool.query(`select rate_count, rate_burst from tasks.types where table_name = 'nightly_report'`))
        .rows[0]
    expect(await read()).toEqual({ rate_count: 60, rate_burst: 20 })
    await confirm(page, 'Limits…', (dialog) => dialog.getByLabel('Starts at once').fill('5'))
    expect(await read()).toEqual({ rate_count: 60, rate_burst: 5 })
    expect(await audited('rate')).toMatchObject({ details: { count: 60, perMs: 1_000, burst: 5 } })
  })

  it('is limited per key, otherwise, and no longer', async () => {
    const { url } = await serveDashboard({ connectionString })
    const { page } = await open(`${url}types/tasks/nightly_report`)
    const read = async () =>
      (
        await database.pool.query(
          `select key_columns, key_concurrency, key_on_retry from tasks.types where table_name = 'nightly_report'`,
        )
      ).rows[0]
    await confirm(page, 'Limits…', async (dialog) => {
      await dialog.getByLabel('region').check()
      await dialog.getByLabel('per key').fill('2')
      await dialog.getByLabel('waits for its retry').selectOption('step_aside')
    })
    expect(await read()).toEqual({ key_columns: ['region'], key_concurrency: 2, key_on_retry: 'step_aside' })
    expect(await audited('keys')).toEqual({
      actor: 'local',
      action: 'keys',
      table_name: 'tasks.nightly_report',
      target: null,
      affected: 1,
      details: { columns: ['region'], concurrency: 2, onRetry: 'step_aside' },
    })
    await page.getByText('region (2)').waitFor()
    await confirm(page, 'Limits…', async (dialog) => {
      await dialog.getByLabel('group_key').check()
      await dialog.getByLabel('per key').fill('1')
    })
    expect(await read()).toEqual({
      key_columns: ['region', 'group_key'],
      key_concurrency: 1,
      key_on_retry: 'step_aside',
    })
    await confirm(page, 'Limits…', async (dialog) => {
      for (const column of ['region', 'group_key']) await dialog.getByLabel(column, { exact: true }).uncheck()
    })
    expect(await read()).toEqual({ key_columns: null, key_concurrency: null, key_on_retry: null })
    const { rows } = await database.pool.query(
      `select from pg_indexes where tablename = 'nightly_report' and indexname like 'pg\\_tasks\\_%'`,
    )
    expect(rows).toEqual([])
  })

  it('is cleaned of ended tasks of an age', async () => {
    await database.pool.query(
      `insert into tasks.nightly_report (started_at, finished_at, execution_count) select now() - interval '9 days', now() - g * interval '1 day', 1 from generate_series(1, 8) g`,
    )
    const { url } = await serveDashboard({ connectionString })
    const { page } = await open(`${url}types/tasks/nightly_report`)
    await confirm(page, 'Clean…', (dialog) => dialog.getByLabel('Ended longer ago than').fill('5.5'))
    await page.getByText('Deleted: 3').first().waitFor()
    const { rows } = await database.pool.query(
      'select count(*)::integer as left from tasks.nightly_report where finished_at is not null',
    )
    expect(rows).toEqual([{ left: 5 }])
  })
})

describe('all tasks of a filter', () => {
  it('are counted first, then handled with progress; held ones are passed by and reported', async () => {
    await database.pool.query(
      `insert into tasks.send_invoice (order_id, email) select 7, 'bulk@example.com' from generate_series(1, 1200)`,
    )
    const holder = await database.client()
    await holder.query('begin')
    await holder.query(`select from tasks.send_invoice where email = 'bulk@example.com' order by id limit 5 for update`)
    const { url } = await serveDashboard({ connectionString })
    const { page } = await open(`${url}types/tasks/send_invoice?state=ready&filter=order_id:eq:7`)
    await page.getByText('All of these').click()
    await page.getByRole('button', { name: 'Cancel…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('1,200 tasks are selected.').waitFor()
    await dialog.getByRole('button', { name: 'Start' }).click()
    await dialog.getByText('Ended.').waitFor()
    expect(await dialog.locator('.progress-figures dd').allTextContents()).toEqual(['1,195', '5', '0', '0'])
    const { rows } = await database.pool.query(
      `select count(*) filter (where canceled)::integer as canceled from tasks.send_invoice where email = 'bulk@example.com'`,
    )
    expect(rows).toEqual([{ canceled: 1195 }])
    const audit = await database.pool.query(
      `select sum(affected)::integer as affected, max(details::text) as details from tasks.audit where action = 'cancel' and details ->> 'bulk' = 'true'`,
    )
    expect(audit.rows[0]).toMatchObject({ affected: 1195 })
    expect(JSON.parse(audit.rows[0].details)).toEqual({ bulk: true, state: 'ready', filters: ['order_id eq'] })
    await holder.query('rollback')
  })

  it('are all of the filter, also where the page’s order leaves out those without a value', async () => {
    const own = await createDatabase()
    await createSampleTypes(own.pool)
    await own.pool.query(`
      create index on tasks.send_invoice (amount);
      insert into tasks.send_invoice (order_id, email, amount) values (1, 'a', 1), (1, 'b', null), (1, 'c', 3)`)
    const { url } = await serveDashboard({ connectionString: own.url })
    const api = await apiOf(url)
    const type = 'types/tasks/send_invoice'
    expect((await api('GET', `${type}/bulk?order=amount`)).json).toEqual({ count: 3, about: false })
    const { text } = await api('POST', `${type}/bulk/cancel?order=amount`)
    expect(text).toContain('"done":3')
  })

  it('are reset, each at most once, although they come by again at the end of the order', async () => {
    await database.pool.query(
      `insert into tasks.nightly_report (region, planned_to) select 'again', now() - interval '1 day' from generate_series(1, 700)`,
    )
    const { url } = await serveDashboard({ connectionString })
    const { page } = await open(`${url}types/tasks/nightly_report?state=ready&filter=region:eq:again`)
    await page.getByText('All of these').click()
    await page.getByRole('button', { name: 'Reset…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('700 tasks are selected.').waitFor()
    await dialog.getByRole('button', { name: 'Start' }).click()
    await dialog.getByText('Ended.').waitFor()
    expect(await dialog.locator('.progress-figures dd').allTextContents()).toEqual(['700', '0', '0', '0'])
  })
})

describe('a schedule', () => {
  it('is created, edited, paused, resumed, triggered, backfilled and removed', { timeout: 120_000 }, async () => {
    const { url } = await serveDashboard({ connectionString })
    const { page } = await open(`${url}schedules`, { mayComplain: true })
    const read = async () =>
      (
        await database.pool.query(
          `select *, extract(epoch from every)::integer as every_s from tasks.schedules where key = 'eu'`,
        )
      ).rows[0]
    await page.getByRole('button', { name: 'New schedule…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Key').fill('eu')
    await dialog.getByLabel('Type').selectOption('tasks.nightly_report')
    await dialog.getByLabel('Cron', { exact: true }).fill('61 * * * *')
    await dialog.locator('.problem').waitFor()
    await dialog.getByLabel('Cron', { exact: true }).fill('0 3 * * *')
    await waitFor(async () => (await dialog.locator('.schedule-preview li').count()) === 5, {
      timeoutMs: 10_000,
      what: 'the next five',
    })
    expect(
      (await dialog.locator('.schedule-preview li').allTextContents()).every((text) => text.endsWith('03:00:00')),
    ).toBe(true)
    await dialog.getByLabel('region').fill('eu')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await read()).toMatchObject({
      cron: '0 3 * * *',
      timezone: 'Europe/Berlin',
      columns: { region: 'eu' },
      origin: 'api',
    })

    await page.getByRole('link', { name: 'eu', exact: true }).click()
    await confirm(page, 'Edit…', async (edit) => {
      await edit.getByLabel('Kind').selectOption('every')
      await edit.getByLabel('Interval (seconds)').fill('3600')
      await edit.getByLabel('While one is unfinished').selectOption('skip')
    })
    expect(await read()).toMatchObject({ cron: null, every_s: 3600, overlap: 'skip', columns: { region: 'eu' } })

    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await page.locator('h1').getByText('paused').waitFor()
    expect((await read()).paused_at).not.toBeNull()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.locator('h1').getByText('active').waitFor()
    expect((await read()).paused_at).toBeNull()

    await page.getByRole('button', { name: 'Trigger now' }).click()
    await page.getByRole('cell', { name: 'by hand' }).waitFor()
    const triggered = await database.pool.query(
      `select region, schedule_trigger from tasks.nightly_report where schedule_key = 'eu'`,
    )
    expect(triggered.rows).toEqual([{ region: 'eu', schedule_trigger: 'manual' }])

    const hourAgo = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString().slice(0, 19)
    await page.locator('.preferences summary').click()
    await page.getByLabel('Times').selectOption('utc')
    await page.locator('.preferences summary').click()
    await confirm(page, 'Backfill…', async (backfill) => {
      await backfill.getByLabel('From').fill(hourAgo(5))
      await backfill.getByLabel('To').fill(hourAgo(2))
    })
    const backfilled = await database.pool.query(
      `select count(*)::integer as count from tasks.nightly_report where schedule_trigger = 'backfill'`,
    )
    expect(backfilled.rows).toEqual([{ count: 3 }])

    await confirm(page, 'Remove…')
    await page.getByRole('heading', { name: 'Schedules' }).waitFor()
    expect(await read()).toBeUndefined()
    const { rows } = await database.pool.query(`select action from tasks.audit where target = 'eu' order by id`)
    expect(rows.map(({ action }) => action)).toEqual([
      'schedule',
      'schedule',
      'pause_schedule',
      'resume_schedule',
      'trigger_schedule',
      'backfill_schedule',
      'unschedule',
    ])
  })
})
