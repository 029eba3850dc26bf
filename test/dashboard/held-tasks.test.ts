import { expect, it } from 'vitest'
import { createDatabase } from '../support/test-database.js'
import { useBrowser } from './support/browser.js'
import { apiOf, serveDashboard } from './support/serve-dashboard.js'

const open = useBrowser()

interface Listed {
  readonly tasks: ReadonlyArray<{ readonly id: string; readonly state: string; readonly held: boolean }>
  readonly next: readonly [string, string] | null
}

it('lists the tasks that their key holds back among the ready ones, in order, as they are counted', async () => {
  const database = await createDatabase()
  await database.pool.query(`
    create table tasks.call_bank (
      like tasks.template including defaults including identity including indexes, account integer not null);
    select tasks.register('tasks', 'call_bank');
    select tasks.limit_keys('tasks', 'call_bank', array['account']);
    insert into tasks.call_bank (account, planned_to)
    select g % 2, now() - interval '1 hour' + g * interval '1 second' from generate_series(1, 60) g;
    insert into tasks.call_bank (account, planned_to) values (0, now() + interval '1 hour');
    select from tasks.acquire_tasks_call_bank(70);`)
  const { rows } = await database.pool.query('select count(*)::integer as held from tasks.call_bank where held')
  expect(rows).toEqual([{ held: 58 }])
  const { url } = await serveDashboard({ connectionString: database.url })
  const send = await apiOf(url)
  const { json: type } = await send('GET', 'types/tasks/call_bank')
  expect(type).toMatchObject({ counts: { states: { ready: { count: 58, about: false }, scheduled: { count: 1 } } } })

  const listed: Listed['tasks'][number][] = []
  let after = ''
  do {
    const page = (await send('GET', `types/tasks/call_bank/tasks?state=ready${after}`)).json as {
      tasks: Listed['tasks']
      next: { key: string; id: string } | null
    }
    listed.push(...page.tasks)
    after = page.next === null ? '' : `&after=${encodeURIComponent(JSON.stringify([page.next.key, page.next.id]))}`
  } while (after !== '')
  expect(listed.map(({ id }) => id)).toEqual(Array.from({ length: 58 }, (_, n) => String(n + 3)))
  expect(listed.every(({ held, state }) => held && state === 'ready')).toBe(true)

  const { page } = await open(`${url}types/tasks/call_bank?state=ready`)
  await page.locator('tbody .tag').first().waitFor()
  expect(await page.locator('tbody .tag').allInnerTexts()).toEqual(Array.from({ length: 50 }, () => 'held back'))
  await page.getByRole('link', { name: '3', exact: true }).click()
  await page.locator('h1').getByText('held back').waitFor()

  // All of them means these as well.
  const { text } = await send('POST', 'types/tasks/call_bank/bulk/cancel?state=ready')
  expect(JSON.parse(text.trim().split('\n').at(-1) ?? '')).toMatchObject({ done: 58, finished: true })
})
