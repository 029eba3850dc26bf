import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { scalarOf } from '../sql/rows-of.js'
import { type CliResult, runCli } from './run-cli.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
  await database.pool.query(
    `create table tasks.mail (like tasks.template including defaults including identity including indexes,
       address text not null, tags text[], body jsonb)`,
  )
})

function cli(...args: string[]): Promise<CliResult> {
  return runCli(args, { env: { DATABASE_URL: database.url } })
}

async function json(...args: string[]) {
  const { code, stdout, stderr } = await cli(...args, '--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

const count = (condition: string) =>
  scalarOf<number>(database.pool, `select count(*)::int from tasks.mail t where ${condition}`)

describe('task types', () => {
  it('are registered with settings, listed, and unregistered', async () => {
    expect(await json('register', 'mail', '--timeout', '5 minutes', '--max-retries', 'none', '--no-notify')).toEqual({
      registered: { schema: 'tasks', table: 'mail' },
    })
    expect(await json('types')).toMatchObject({
      types: [{ schema: 'tasks', table: 'mail', timeoutMs: 300_000, maxRetries: null, notify: false, workers: 0 }],
    })
    await json('unregister', 'mail')
    expect(await json('types')).toEqual({ types: [] })
    await json('register', 'mail')
    const { stdout } = await cli('types')
    expect(stdout.split('\n')[0]).toMatch(/^TYPE +TIMEOUT +RETRIES/)
    expect(stdout).toMatch(/^mail +1 m +20/m)
  })

  it('are found by what was nearly their name', async () => {
    const { code, stderr } = await cli('list', 'mial')
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('Did you mean mail?') })
  })

  it('are told from tables that nobody has registered', async () => {
    await database.pool.query(
      'create table tasks.letter (like tasks.template including defaults including identity including indexes)',
    )
    const { code, stderr } = await cli('list', 'letter')
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'error: letter is not a registered task type.\nIts table is there: pg-tasks register letter\n',
    })
    await database.pool.query('drop table tasks.letter')
  })

  it('are listed with the names that the columns of their key bear now', async () => {
    await database.pool.query(`create table tasks.parcel (
      like tasks.template including defaults including identity including indexes, customer_id bigint)`)
    await json('register', 'parcel')
    await database.pool.query(`select tasks.limit_keys('tasks', 'parcel', array['customer_id'])`)
    await database.pool.query('alter table tasks.parcel rename column customer_id to client_id')
    expect((await json('types')).types).toContainEqual(
      expect.objectContaining({ table: 'parcel', keyColumns: ['client_id'] }),
    )
    await json('unregister', 'parcel')
  })

  it('are paused and resumed', async () => {
    await json('pause', 'mail', '--reason', 'lunch')
    expect(await json('types')).toMatchObject({ types: [{ pausedReason: 'lunch' }] })
    await json('resume', 'tasks.mail')
    expect(await json('types')).toMatchObject({ types: [{ pausedAt: null }] })
  })
})

describe('enqueue', () => {
  it('takes values as PostgreSQL reads them', async () => {
    const { id } = await json(
      'enqueue',
      'mail',
      'address=a=b',
      'tags={x,"y z"}',
      'body={"n": 1}',
      '--in',
      '1h',
      '--priority',
      '0',
    )
    const { rows } = await database.pool.query(
      `select address, tags, body, priority, planned_to - now() between '59 minutes' and '1 hour' as later from tasks.mail where id = $1`,
      [id],
    )
    expect(rows).toEqual([{ address: 'a=b', tags: ['x', 'y z'], body: { n: 1 }, priority: 0, later: true }])
  })

  it('says what the table refuses', async () => {
    const { code, stderr } = await cli('enqueue', 'mail', 'adress=x')
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('column "adress"') })
    expect(stderr).toContain('Its columns: address (text, required), tags (text[]), body (jsonb).')
    const incomplete = await cli('enqueue', 'mail', 'tags={secret}')
    expect(incomplete.stderr).toContain('Its columns: address (text, required)')
    expect(incomplete.stderr).not.toContain('secret')
  })

  it('names line and columns where a line of a CSV file lacks one', async () => {
    const file = join(temporaryFolder(), 'rows.csv')
    writeFileSync(file, 'address\na\n\n')
    expect((await cli('enqueue', 'mail', '--file', file)).stderr).toMatch(/line 3[\s\S]*Its columns: address/)
  })

  it('takes a CSV file whole, with lines of progress where it is piped', async () => {
    const file = join(temporaryFolder(), 'rows.csv')
    writeFileSync(file, `\u{feff}"address",tags\n${'"csv, one",{a}\ncsv2,\n'.repeat(500)}`)
    const { code, stdout, stderr } = await cli('enqueue', 'mail', '--file', file)
    expect({ code, stdout }).toEqual({ code: 0, stdout: '1,000 tasks of mail are enqueued.\n' })
    expect(stderr).toMatch(/^enqueue {2}100 %.*\n$/)
    expect(stderr.replaceAll(/[\n\x20-\x7e]/g, '')).toBe('')
    expect(await count(`address = 'csv, one' and tags = '{a}'`)).toBe(500)
    expect(await count(`address = 'csv2' and tags is null`)).toBe(500)
  })

  it('takes nothing of a CSV file with a line that is refused, and names the line', async () => {
    const file = join(temporaryFolder(), 'rows.csv')
    writeFileSync(file, 'address,priority\nhalf,1\nhalf,9\n')
    const { code, stderr } = await cli('enqueue', 'mail', '--file', file)
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('line 3') })
    expect(await count(`address = 'half'`)).toBe(0)
  })

  it('takes JSON lines from standard input, all or none', async () => {
    const lines = Array.from({ length: 1500 }, (_, n) => JSON.stringify({ address: 'line', body: { n } })).join('\n')
    const run = (input: string) =>
      runCli(['enqueue', 'mail', '--file', '-', '--format', 'jsonl', '--json'], {
        env: { DATABASE_URL: database.url },
        input,
      })
    const bad = await run(`${lines}\n{"address": null}\n`)
    expect({ code: bad.code, error: JSON.parse(bad.stderr) }).toMatchObject({
      code: 1,
      error: { error: { message: expect.stringContaining('Lines 1001 to 1501') } },
    })
    expect(await count(`address = 'line'`)).toBe(0)
    expect((await run(lines)).json).toEqual({ enqueued: 1500 })
    expect(await count(`body->>'n' = '1499'`)).toBe(1)
  })

  it.each([
    [
      'a number that JavaScript would change',
      'jsonl',
      '{"address": "inexact", "body": 9007199254740993}\n',
      'Line 1: 9007199254740993',
    ],
    ['UTF-16', 'csv', Buffer.from('\u{feff}address\ninexact\n', 'utf16le').toString('latin1'), 'UTF-8'],
    ['a first line that does not end', 'csv', `address,"${'x'.repeat(2 ** 21)}\ninexact\n`, 'is a quote not closed?'],
  ])('refuses a file with %s', async (_, format, content, message) => {
    const file = join(temporaryFolder(), `rows.${format}`)
    writeFileSync(file, content, 'latin1')
    const { code, stderr } = await cli('enqueue', 'mail', '--file', file)
    expect({ code, stderr }).toEqual({ code: format === 'csv' ? 2 : 1, stderr: expect.stringContaining(message) })
    expect(await count(`address = 'inexact'`)).toBe(0)
  })

  it.each(['csv', 'jsonl'])('doesn’t read an endless line of %s to its end', async (format) => {
    const { code, stderr } = await cli('enqueue', 'mail', '--file', '/dev/zero', '--format', format)
    expect({ code, stderr }).toEqual({
      code: format === 'csv' ? 2 : 1,
      stderr: expect.stringMatching(format === 'csv' ? 'zero byte' : 'Line 1 is too long'),
    })
  })

  it('says that a folder is one', async () => {
    const { code, stderr } = await cli('enqueue', 'mail', '--file', temporaryFolder(), '--format', 'csv')
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('is a folder') })
  })
})

describe('list and show', () => {
  it('give pages of tasks, the newest first, by state and condition', async () => {
    const first = await json('list', 'mail', '--where', `address = 'line'`, '--limit', '2')
    expect(first.tasks).toMatchObject([{ state: 'ready', body: { n: 1499 } }, { body: { n: 1498 } }])
    const next = await json('list', 'mail', '--where', `address = 'line'`, '--limit', '2', '--after', first.tasks[1].id)
    expect(next.tasks).toMatchObject([{ body: { n: 1497 } }, { body: { n: 1496 } }])
    expect(await json('list', 'mail', '--state', 'scheduled', '--oldest')).toMatchObject({
      tasks: [{ address: 'a=b' }],
    })
    const { stdout } = await cli('list', 'mail', '--where', 'false')
    expect(stdout).toBe('No tasks.\n')
  })

  it('list gives the first line of an error, show the whole', async () => {
    const { id } = await json('enqueue', 'mail', 'address=broken')
    await database.pool.query(`update tasks.mail set last_error = $2 where id = $1`, [
      id,
      'Error: no paper\n    at print (/srv/mail.ts:4:11)',
    ])
    const { stdout } = await cli('list', 'mail', '--where', `address = 'broken'`)
    expect(stdout).toMatch(/ERROR\n.* Error: no paper\n$/)
    expect((await cli('show', 'mail', id)).stdout).toContain('at print (/srv/mail.ts:4:11)')
    expect((await json('list', 'mail', '--where', `address = 'broken'`)).tasks[0].last_error).toContain('at print')
  })

  it('show one with what is kept of it', async () => {
    const { id } = await json('enqueue', 'mail', 'address=shown')
    expect(await json('show', 'mail', id)).toMatchObject({
      state: 'ready',
      task: { id, address: 'shown' },
      attempts: [],
      marks: [],
    })
    const { stdout } = await cli('show', 'mail', id)
    expect(stdout).toMatch(/^state +ready\n/)
    expect((await cli('show', 'mail', '999999999')).code).toBe(1)
  })

  it('say how a role comes to the rights that it lacks', async () => {
    await database.pool.query('drop role if exists cli_without_rights; create role cli_without_rights')
    const { code, stderr } = await runCli(['list', 'mail'], {
      env: { DATABASE_URL: database.url, PGOPTIONS: '-c role=cli_without_rights' },
    })
    await database.pool.query('drop role cli_without_rights')
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^error: permission denied for schema tasks\nThe owner of the schema gives rights to a task type: select tasks\.grant_to\('<role>'/,
    )
  })

  it('take an error in the condition for what it is', async () => {
    const { stderr } = await cli('list', 'mail', '--where', 'address == 1')
    expect(stderr).toContain('operator does not exist')
    expect(stderr).not.toContain('migrate')
    // The statement around the condition is none of the caller's.
    const unended = await cli('list', 'mail', '--where', `address = 'x`)
    expect(unended.stderr).toMatch(/^error: unterminated quoted string at or near "'x…"\n$/)
  })
})

describe('retry, cancel, reset and clean', () => {
  const running = async () => {
    const { id } = await json('enqueue', 'mail', 'address=run', 'planned_to=-infinity', 'priority=0')
    await database.pool.query('select tasks.acquire_tasks_mail(1)')
    return id as string
  }

  it('retry takes a running task from its run', async () => {
    const id = await running()
    expect(await json('retry', 'mail', id, '--in', '1h', '--comment', 'not now')).toMatchObject({
      verb: 'retry',
      changed: 1,
      failures: [],
    })
    expect(await json('show', 'mail', id)).toMatchObject({ state: 'scheduled', task: { comment: 'not now' } })
    const again = await cli('retry', 'mail', id, '--json')
    expect({ code: again.code, json: again.json }).toMatchObject({
      code: 1,
      json: { changed: 0, failures: [{ id, code: 'TASK_NOT_RUNNING' }] },
    })
  })

  it('change nothing by condition until somebody agrees', async () => {
    const asked = await cli('cancel', 'mail', '--where', `address = 'line'`)
    expect(asked.code).toBe(4)
    expect(asked.stderr).toContain('1,500 tasks of mail (1,500 ready) will be canceled')
    expect(asked.stderr).toContain('… and 1,495 more')
    expect(await json('cancel', 'mail', '--where', `address = 'line'`, '--dry-run')).toMatchObject({
      dryRun: true,
      matched: { ready: 1500 },
    })
    expect(await count('canceled')).toBe(0)
    const done = await cli('cancel', 'mail', '--where', `address = 'line'`, '--yes', '--comment', 'off')
    expect({ code: done.code, stdout: done.stdout }).toEqual({
      code: 0,
      stdout: '1,500 tasks of mail were canceled.\n',
    })
    expect(done.stderr).toContain('cancel  100 %  1,500 of 1,500')
    expect(await count(`canceled and comment = 'off'`)).toBe(1500)
  })

  it('reset brings ended ones back, and says which ids are not there', async () => {
    const { tasks } = await json('list', 'mail', '--state', 'canceled', '--limit', '1')
    const { code, json: result } = await cli('reset', 'mail', tasks[0].id, '999999999', '--json')
    expect({ code, result }).toMatchObject({ code: 1, result: { changed: 1, missing: 1, matched: { canceled: 1 } } })
    expect(await json('show', 'mail', tasks[0].id)).toMatchObject({ state: 'ready' })
    expect(await json('reset', 'mail', '--state', 'failed', '--yes')).toMatchObject({ matched: {} })
  })

  it('clean deletes what has ended, and only that', async () => {
    const { code, stderr } = await cli('clean', 'mail')
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('for ever') })
    expect(await json('clean', 'mail', '--state', 'canceled', '--older-than', '1d', '--yes')).toMatchObject({
      matched: {},
    })
    expect(await json('clean', 'mail', '--state', 'canceled', '--older-than', '0s', '--yes')).toMatchObject({
      changed: 1499,
    })
    const id = await running()
    await json('clean', 'mail', id)
    expect(await count(`id = ${id}`)).toBe(1)
    expect((await cli('clean', 'mail', '--state', 'ready')).code).toBe(2)
  })

  it('name the tasks that could not be changed and go on with the others', async () => {
    await database.pool.query(
      `insert into tasks.mail (address, finished_at) select 'held', now() from generate_series(1, 3);
       create table letters (mail_id bigint references tasks.mail);
       insert into letters select max(id) from tasks.mail`,
    )
    const { code, json: result } = await cli('clean', 'mail', '--where', `address = 'held'`, '--yes', '--json')
    expect({ code, result }).toMatchObject({ code: 1, result: { changed: 2, failures: [{ code: '23503' }] } })
    expect(await count(`address = 'held'`)).toBe(1)
  })
})

describe('stats', () => {
  it('counts tasks per type and state', async () => {
    const { types } = await json('stats')
    expect(types).toMatchObject([{ schema: 'tasks', table: 'mail', failed: 0, paused: false }])
    expect(types[0].total).toBe(await count('true'))
  })
})

describe('schedules', () => {
  it('are listed, shown with their next occurrences, and managed by key', async () => {
    await database.pool.query(
      `select tasks.schedule('daily', 'tasks', 'mail', cron => '0 3 * * *', timezone => 'Europe/Berlin', columns => '{"address": "cron"}')`,
    )
    expect(await json('schedules')).toMatchObject({
      schedules: [{ key: 'daily', cron: '0 3 * * *', state: 'unplanned' }],
    })
    const { next } = await json('schedules', 'show', 'daily', '--next', '3')
    expect(next).toHaveLength(3)
    expect(new Date(next[1]).getTime() - new Date(next[0]).getTime()).toBe(86_400_000)
    await json('schedules', 'pause', 'daily', '--reason', 'audit')
    expect((await cli('schedules')).stdout).toMatch(/daily +mail +0 3 \* \* \* \(Europe\/Berlin\) +paused/)
    await json('schedules', 'resume', 'daily')
    const { id } = await json('schedules', 'trigger', 'daily', '--request-id', 'r1')
    expect(await json('schedules', 'trigger', 'daily', '--request-id', 'r1')).toMatchObject({ id })
    const range = ['--from', '2026-01-01T00:00Z', '--to', '2026-01-03T00:00Z']
    expect(await json('schedules', 'backfill', 'daily', ...range)).toMatchObject({ enqueued: 2 })
    await json('schedules', 'unschedule', 'daily')
    expect((await cli('schedules', 'show', 'daily')).code).toBe(1)
  })
})
