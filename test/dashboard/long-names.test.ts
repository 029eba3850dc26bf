import { expect, it } from 'vitest'
import { createDatabase } from '../support/test-database.js'
import { useBrowser } from './support/browser.js'
import { serveDashboard } from './support/serve-dashboard.js'

const open = useBrowser()

/** As long as PostgreSQL lets a name be. */
const LONG = 'w'.repeat(63)

it('names as long as they can be fit 360 pixels, in pages and dialogs', { timeout: 120_000 }, async () => {
  const database = await createDatabase()
  await database.pool.query(`
    create schema "${LONG}";
    create table "${LONG}"."${LONG}" (
      like tasks.template including defaults including identity including indexes, "${LONG}" text not null, note text);
    select tasks.register('${LONG}', '${LONG}', function_name => 'long');
    select tasks.pause('${LONG}', '${LONG}', '${LONG}');
    insert into "${LONG}"."${LONG}" ("${LONG}", failed_at, failure_reason, last_error) values ('${LONG}', now(), 'error', '${LONG}');
    select tasks.schedule('${LONG}', '${LONG}', '${LONG}', every => '1 hour', columns => '{"${LONG}": "${LONG}"}');`)
  const { url } = await serveDashboard({ connectionString: database.url })
  const type = `types/${LONG}/${LONG}`
  const pages = [
    '',
    type,
    `${type}?filter=${LONG}:contains:${LONG}`,
    `${type}/1`,
    'schedules',
    `schedules/${LONG}`,
    'health',
  ]
  const overflow = 'document.documentElement.scrollWidth - innerWidth'
  const found: Array<[string, unknown]> = []
  for (const path of pages) {
    const { page } = await open(`${url}${path}`, { viewport: { width: 360, height: 740 } })
    await page.getByText(LONG).first().waitFor({ state: 'attached' })
    await page.waitForLoadState('networkidle', { timeout: 1_000 }).catch(() => {})
    found.push([path, await page.evaluate(overflow)])
  }
  const { page } = await open(`${url}${type}`, { viewport: { width: 360, height: 740 } })
  for (const name of ['Enqueue…', 'Limits…', 'Clean…']) {
    await page.getByRole('button', { name }).click()
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    const wide = await page.evaluate(
      `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('dialog'))`,
    )
    found.push([name, wide])
    await dialog.getByRole('button', { name: 'Back' }).click()
    await dialog.waitFor({ state: 'detached' })
  }
  expect(found.filter(([, pixels]) => pixels !== 0)).toEqual([])
})
