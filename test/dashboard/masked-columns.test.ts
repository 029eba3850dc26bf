import { beforeAll, expect, it } from 'vitest'
import { createDatabase } from '../support/test-database.js'
import { useBrowser } from './support/browser.js'
import { createSampleTypes, enqueueInvoice } from './support/sample-types.js'
import { apiOf, serveDashboard } from './support/serve-dashboard.js'

const SECRET = 'sekret-7f3a'
const database = await createDatabase()
const options = {
  connectionString: database.url,
  columns: {
    'tasks.send_invoice': { email: 'mask', payload: 'hide' },
    '*': { region: 'mask', last_error: 'mask', group_key: 'mask' },
  },
} as const
const open = useBrowser()
let id: string

beforeAll(async () => {
  await createSampleTypes(database.pool)
  await database.pool.query(
    `alter table tasks.send_invoice add constraint few check (order_id < 90); create index on tasks.send_invoice (email)`,
  )
  id = await enqueueInvoice(database.pool, {
    email: `${SECRET}@example.com`,
    payload: JSON.stringify({ card: SECRET }),
  })
  await database.pool.query(
    `update tasks.send_invoice set started_at = now(), execution_count = 1, failed_at = now(), last_error = $1 where id = $2`,
    [`no ${SECRET}`, id],
  )
  await database.pool.query(
    `insert into tasks.attempts (table_id, task_id, attempt, started_at, ended_at, outcome, error) values ('tasks.send_invoice'::regclass, $1, 1, now(), now(), 'failed', $2)`,
    [id, `no ${SECRET}`],
  )
  await database.pool.query(`insert into tasks.groups (key, callback_table) values ($1, 'tasks.nightly_report')`, [
    `customer ${SECRET}`,
  ])
  await database.pool.query('update tasks.send_invoice set group_key = $1 where id = $2', [`customer ${SECRET}`, id])
  await database.pool.query(
    `select tasks.schedule('report', 'tasks', 'nightly_report', every => '1 hour', columns => jsonb_build_object('region', $1::text))`,
    [SECRET],
  )
  await database.pool.query('update tasks.schedules set last_error = $1', [
    `there is no region "${SECRET}"; this is not one`,
  ])
})

it('no response carries a masked or hidden value', async () => {
  const { url } = await serveDashboard(options)
  const api = await apiOf(url)
  const type = 'types/tasks/send_invoice'
  for (const path of [
    'overview',
    type,
    `${type}/tasks`,
    `${type}/tasks?state=failed`,
    `${type}/tasks?order=-order_id`,
    `${type}/tasks/${id}`,
    `${type}/charts`,
    'schedules',
    'schedules/report',
    'workers',
    'health',
    'audit',
  ]) {
    const { status, text } = await api('GET', path)
    expect([path, status]).toEqual([path, 200])
    expect([path, text.includes(SECRET)]).toEqual([path, false])
    expect([path, text.includes('"payload"')]).toEqual([path, false])
  }
  expect((await api('GET', `${type}/tasks/${id}`)).json).toMatchObject({
    task: { values: { email: '•••', last_error: '•••', group_key: '•••' }, attempts: [{ error: '•••' }], group: null },
  })
  expect((await api('GET', 'health')).text).toContain('there is no region \\"•••\\"; this is not one')
})

it('the doctor masks an error of a type whose name has dots and quotes', async () => {
  const own = await createDatabase()
  await own.pool.query(`
    create schema "my.shop";
    create table "my.shop"."an ""odd"" one" (like tasks.template including defaults including identity including indexes);
    select tasks.register('my.shop', 'an "odd" one', function_name => 'odd');
    insert into "my.shop"."an ""odd"" one" (failed_at, failure_reason, last_error) values (now(), 'error', 'no ${SECRET}')`)
  const { url } = await serveDashboard({
    connectionString: own.url,
    columns: { 'my.shop.an "odd" one': { last_error: 'mask' } },
  })
  const { text } = await (await apiOf(url))('GET', 'health')
  expect(text).toContain('failed for good, the last with: •••')
  expect(text).not.toContain(SECRET)
})

it('no filter and no order tells it either', async () => {
  const { url } = await serveDashboard(options)
  const api = await apiOf(url)
  for (const query of [
    `filter=email:starts:${SECRET}`,
    'filter=payload:contains:card',
    'order=email',
    'order=-payload',
    'filter=last_error:contains:x',
  ]) {
    expect([query, (await api('GET', `types/tasks/send_invoice/tasks?${query}`)).status]).toEqual([query, 400])
    expect([query, (await api('GET', `types/tasks/send_invoice/bulk?${query}`)).status]).toEqual([query, 400])
  }
  const refused = await api('POST', `types/tasks/send_invoice/bulk/reset?filter=email:starts:${SECRET}`, {})
  expect(refused.text).toContain('"done":0')
  expect(refused.text).not.toContain('"done":1')
})

it('what the database says of a refused row leaves the row out', async () => {
  const { url } = await serveDashboard(options)
  const api = await apiOf(url)
  const refused = await api('POST', 'types/tasks/send_invoice/tasks', { values: { order_id: '95', email: SECRET } })
  expect(refused.status).toBe(422)
  expect(refused.text).toContain('violates check constraint')
  expect(refused.text).not.toContain(SECRET)
})

it('a masked column can be given when a task is enqueued, and stays out of the audit', async () => {
  const { url } = await serveDashboard(options)
  const { page } = await open(`${url}types/tasks/send_invoice`)
  await page.getByRole('button', { name: 'Enqueue…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('order_id').fill('5')
  await dialog.getByLabel('email').fill('typed@example.com')
  await dialog.getByRole('button', { name: 'Enqueue' }).click()
  await dialog.waitFor({ state: 'detached' })
  const { rows } = await database.pool.query(
    `select order_id::integer from tasks.send_invoice where email = 'typed@example.com'`,
  )
  expect(rows).toEqual([{ order_id: 5 }])
  const audit = await database.pool.query('select string_agg(a::text, chr(10)) as text from tasks.audit a')
  expect(audit.rows[0].text).not.toContain('typed@example.com')
})

it('a schedule keeps the masked values of its columns when it is edited here', async () => {
  const { url } = await serveDashboard(options)
  const api = await apiOf(url)
  expect(
    (
      await api('PUT', 'schedules/report', {
        schema: 'tasks',
        table: 'nightly_report',
        timing: { everyMs: 7_200_000 },
        columns: {},
      })
    ).status,
  ).toBe(200)
  const { rows } = await database.pool.query(
    `select columns, extract(epoch from every)::integer as every from tasks.schedules where key = 'report'`,
  )
  expect(rows).toEqual([{ columns: { region: SECRET }, every: 7_200 }])
})
