import { diagnose } from '@pg-tasks/sql'
import { expect, it } from 'vitest'
import { createDatabase } from '../support/test-database.js'
import { useBrowser } from './support/browser.js'
import { createSampleTypes, enqueueInvoice } from './support/sample-types.js'
import { serveDashboard } from './support/serve-dashboard.js'

const open = useBrowser()

it('says in Russian what the doctor finds, with the same names, figures and statements', async () => {
  const database = await createDatabase()
  await createSampleTypes(database.pool)
  await enqueueInvoice(database.pool, { planned_to: new Date(Date.now() - 7_200_000) })
  await database.pool.query(`
    create table tasks.stray (like tasks.template including defaults);
    create table tasks.gone (like tasks.template including defaults including identity including indexes);
    select tasks.register('tasks', 'gone');
    drop table tasks.gone cascade;
    alter table tasks.send_invoice set (autovacuum_enabled = off);
    alter table tasks.send_invoice reset (fillfactor);
    alter table tasks.send_invoice drop constraint pg_tasks_priority;
    drop trigger pg_tasks_notify_insert on tasks.send_invoice;
    drop index tasks.send_invoice_priority_planned_to_id_idx;
    insert into tasks.nightly_report (failed_at, failure_reason, last_error) values (now(), 'error', E'<b>ai</b>\nsecond');
    select tasks.pause('tasks', 'nightly_report', 'праздник');
    select tasks.schedule('every day', 'tasks', 'nightly_report', every => '1 day');
    update tasks.schedules set last_error = 'oops', paused_at = now();
    create or replace function tasks.clock() returns timestamptz language sql volatile as
      $$select pg_catalog.clock_timestamp() + interval '1 hour'$$;`)
  const checks = await diagnose(database.pool)
  const { url } = await serveDashboard({ connectionString: database.url })
  const { page } = await open(`${url}health`, { locale: 'ru-RU' })
  await page.getByText('праздник').waitFor()
  const text = (await page.locator('main').textContent()) ?? ''
  const found = checks.flatMap(({ findings }) => findings)
  expect(new Set(found.map(({ code }) => code))).toEqual(
    new Set([
      'table_gone',
      'table_unregistered',
      'priority_unchecked',
      'storage_parameter_unset',
      'trigger_missing',
      'index_missing',
      'autovacuum_off',
      'clock_replaced',
      'type_unserved',
      'tasks_failed',
      'type_paused',
      'schedule_set_aside',
    ]),
  )
  for (const { problem } of found) expect(text).not.toContain(problem)
  for (const { title } of checks) expect(text).not.toContain(title)
  for (const item of await page.locator('.findings li > p:first-child').allInnerTexts()) expect(item).toMatch(/[а-яё]/)
  for (const part of [
    'приоритет не проверяется',
    'create trigger pg_tasks_notify_insert',
    'последняя с ошибкой: <b>ai</b>',
    'pg-tasks reset tasks.nightly_report --state failed',
    "pg-tasks schedules resume 'every day'",
    'расходится с часами сервера на 1 ч',
  ]) {
    expect(text).toContain(part)
  }
})
