import { beforeAll, expect, it } from 'vitest'
import { createDatabase } from '../support/test-database.js'
import { useBrowser } from './support/browser.js'
import { createSampleTypes, enqueueInvoice } from './support/sample-types.js'
import { serveDashboard } from './support/serve-dashboard.js'

const HOSTILE = `<img src=x onerror="window.hacked = 1"><script>window.hacked = 2</script>"'><svg onload="window.hacked = 3">`

const database = await createDatabase()
const connectionString = database.url
const open = useBrowser()
let id: string

beforeAll(async () => {
  await createSampleTypes(database.pool)
  id = await enqueueInvoice(database.pool, {
    email: HOSTILE,
    payload: JSON.stringify({ [HOSTILE]: HOSTILE }),
    tags: [HOSTILE],
  })
  await database.pool.query(
    `update tasks.send_invoice set started_at = now(), execution_count = 1, failed_at = now(), failure_reason = 'error', last_error = $1, comment = $1, group_key = $1 where id = $2`,
    [HOSTILE, id],
  )
  await database.pool.query(
    `insert into tasks.attempts (table_id, task_id, attempt, started_at, ended_at, outcome, error) values ('tasks.send_invoice'::regclass, $1, 1, now(), now(), 'failed', $2)`,
    [id, HOSTILE],
  )
  await database.pool.query(
    `select tasks.schedule($1::text, 'tasks', 'nightly_report', every => '1 hour', columns => jsonb_build_object('region', $1::text))`,
    [HOSTILE],
  )
  await database.pool.query(`select tasks.pause('tasks', 'send_invoice', $1)`, [HOSTILE])
  await database.pool.query(
    `insert into tasks.audit (actor, action, target, details) values ($1::text, $1::text, $1::text, jsonb_build_object('x', $1::text))`,
    [HOSTILE],
  )
  await database.pool.query(`create table tasks."<b>odd</b>" (like tasks.template including defaults including identity including indexes, "<i>c</i>" text);
    select tasks.register('tasks', '<b>odd</b>', function_name => 'odd')`)
})

it('is text on every page: in payloads, errors, comments, names, reasons and the audit', async () => {
  const { url } = await serveDashboard({ connectionString })
  const odd = encodeURIComponent('<b>odd</b>')
  const paths = [
    '',
    'types/tasks/send_invoice',
    `types/tasks/send_invoice?state=failed&filter=email:contains:${encodeURIComponent('<img')}`,
    `types/tasks/send_invoice/${id}`,
    'schedules',
    `schedules/${encodeURIComponent(HOSTILE)}`,
    'workers',
    'health',
    'audit',
    `types/tasks/${odd}`,
  ]
  for (const path of paths) {
    const { page } = await open(`${url}${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page
      .getByText(
        path === '' || path.includes('odd') ? 'odd' : path === 'workers' || path === 'health' ? 'pg-tasks' : '<',
      )
      .first()
      .waitFor({ state: 'attached' })
    const found = await page.evaluate(
      `({ hacked: window.hacked, images: document.querySelectorAll('main img').length, scripts: document.querySelectorAll('main script').length })`,
    )
    expect([path, found]).toEqual([path, { hacked: undefined, images: 0, scripts: 0 }])
  }
})

it('an inline script would not run even if it got into the page', async () => {
  const { url } = await serveDashboard({ connectionString })
  const { page, complaints } = await open(url, { mayComplain: true })
  await page.getByRole('heading', { level: 1 }).waitFor()
  const hacked = await page.evaluate(`(() => {
    const script = document.createElement('script')
    script.textContent = 'window.hacked = 4'
    document.body.append(script)
    return window.hacked
  })()`)
  expect(hacked).toBeUndefined()
  expect(complaints.join(' ')).toContain('Content Security Policy')
})
