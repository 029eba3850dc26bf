import { expect, it } from 'vitest'
import { migrationFiles } from '../../support/migration-files.js'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { rowsOf, scalarOf } from './rows-of.js'

const database = await createDatabase()

/** In a session that reads a backslash in any literal as an escape. */
async function oldSession() {
  const session = await database.client()
  await session.query('set standard_conforming_strings = off; set escape_string_warning = off')
  return session
}

it('tasks come back, schedules are taken and history is dropped where backslashes escape', async () => {
  const session = await oldSession()
  await createTaskType(session, 'mail', { columns: 'shop integer' })
  await session.query(`select tasks.unique_while('tasks', 'mail', '{shop}'), tasks.keep_history('tasks', 'mail', '1 day');
    insert into tasks.mail (shop) values (1);
    select tasks.acquire_tasks_mail(1);
    insert into tasks.mail (shop) values (1)`)
  expect(await scalarOf(session, 'select tasks.retry_tasks_mail(1)')).toBe('canceled')
  for (const cron of ['*/5 * * * *', '@daily']) {
    expect(await scalarOf(session, "select tasks.schedule('s', 'tasks', 'mail', cron => $1)", [cron])).toBe('unplanned')
  }
  await session.query(
    `create table tasks.attempts_20200101 partition of tasks.attempts for values from ('2020-01-01') to ('2020-01-02')`,
  )
  expect(await scalarOf(session, 'select tasks.maintain_history()::int')).toBe(1)
})

it('names may have a backslash, whoever registered them', async () => {
  const session = await oldSession()
  await session.query(
    String.raw`create table tasks."a\b" (like tasks.template including defaults including identity including indexes, "c\n'd" integer)`,
  )
  await session.query(String.raw`select tasks.register('tasks', E'a\\b'), tasks.limit_keys('tasks', E'a\\b', array[E'c\\n\'d']);
    insert into tasks."a\b" ("c\n'd") values (1), (1)`)
  for (const client of [session, await database.client()]) {
    const runs = await rowsOf<{ id: string }>(client, String.raw`select id from tasks."acquire_tasks_a\b"(5)`)
    expect(runs).toHaveLength(1)
    await client.query(String.raw`select tasks."finish_tasks_a\b"($1)`, [runs[0]?.id])
  }
})

it('the migrations are ASCII, and none of their literals has a backslash but those that say so', () => {
  for (const { name, sql } of migrationFiles()) {
    expect(sql, name).toMatch(/^\p{ASCII}*$/u)
    expect(sql.replaceAll(/\bE'[^']*'/g, ''), name).not.toContain('\\')
  }
})
