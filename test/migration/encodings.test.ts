import { migrate } from '@pg-tasks/sql'
import { Client } from 'pg'
import { afterAll, expect, it } from 'vitest'
import { requestedMajor } from '../support/postgres-major.js'
import { createDatabase } from '../support/test-database.js'

const { pool, url, name } = await createDatabase({ migrations: false })
const made: string[] = []

afterAll(async () => {
  for (const database of made) await pool.query(`drop database if exists ${database} with (force)`)
})

it.each(['LATIN1', 'WIN1252', 'SQL_ASCII', 'EUC_JP'])(
  'a database in %s takes the migrations and runs a task',
  async (encoding) => {
    const database = `${name}_${encoding.toLowerCase()}`
    const provider = requestedMajor() < 15 ? '' : 'locale_provider libc'
    await pool.query(`create database ${database} encoding '${encoding}' locale 'C' ${provider} template template0`)
    made.push(database)
    const other = new URL(url)
    other.pathname = database
    const client = new Client({ connectionString: other.href })
    await client.connect()
    try {
      await migrate(client)
      await client.query(`create table tasks.mail (like tasks.template including defaults including identity including indexes, note text);
      select tasks.register('tasks', 'mail')`)
      const note = encoding === 'EUC_JP' ? '\u65e5' : '\u00e9'
      await client.query('insert into tasks.mail (note) values ($1)', [note])
      const { rows } = await client.query('select id, note, run_token as token from tasks.acquire_tasks_mail(1)')
      expect(rows).toMatchObject([{ note }])
      const step = await client.query(
        "select length(idempotency_key) as length from tasks.begin_step('tasks.mail'::regclass, $1, $2, $3)",
        [rows[0].id, rows[0].token, note],
      )
      expect(step.rows).toEqual([{ length: 32 }])
      await client.query('select tasks.finish_tasks_mail($1, comment => $2, run_token => $3)', [
        rows[0].id,
        note,
        rows[0].token,
      ])
    } finally {
      await client.end()
    }
  },
)
