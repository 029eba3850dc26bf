import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { rowsOf, scalarOf } from './rows-of.js'

// O-47: the registry is the user's data and goes with a dump.
const database = await createDatabase()
const session = await database.client()
const version = (program: string) =>
  Number(
    spawnSync(program, ['--version'])
      .stdout?.toString()
      .match(/ (\d+)/)?.[1] ?? 0,
  )
const major = Math.floor(Number(await scalarOf(session, 'show server_version_num')) / 10_000)
/** pg_dump refuses a server that is newer than itself. */
const canDump = version('pg_dump') >= major && version('psql') > 0

function run(program: string, args: readonly string[], input?: string): string {
  const { status, stdout, stderr } = spawnSync(program, args, { input, maxBuffer: 1 << 26 })
  if (status !== 0) throw new Error(`${program}: ${stderr.toString()}`)
  return stdout.toString()
}

/** Without comments and the key that pg_dump makes anew each time. */
const dump = (url: string) => run('pg_dump', ['-d', url]).replace(/^(--.*|\\(un)?restrict.*)\n/gm, '')

describe.skipIf(!canDump)('a database that was dumped and restored', () => {
  it('has the same types, which run, notify and can be registered again without a change', async () => {
    await session.query(
      'create schema app; create table app."Send Mail" (like tasks.template including defaults including identity including indexes, payload text)',
    )
    await session.query(
      "select tasks.register('app', 'Send Mail', timeout => '7 s', max_retries => null, storage_time => '1 day', run_limit => '3 s')",
    )
    await createTaskType(session, 'quiet', { settings: 'notify => false' })
    await createTaskType(session, 'renamed')
    await createTaskType(session, 'gone')
    await session.query('alter table tasks.renamed rename to moved')
    await session.query("select tasks.refresh('tasks.moved'::regclass)")
    await session.query("insert into app.\"Send Mail\" (payload) values ('running'), ('ready')")
    await session.query('select tasks."acquire_app_Send Mail"(1, gen_random_uuid())')
    await session.query(
      'create view board as select * from tasks.stats; create view mails as select * from tasks."stats_of_app_Send Mail"',
    )
    await session.query('drop table tasks.gone cascade')
    await session.query("select tasks.unregister('tasks', 'gone')")

    const copy = await createDatabase({ migrations: false })
    run('psql', ['-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', copy.url], run('pg_dump', ['-d', database.url]))
    const restored = await copy.client()
    expect(dump(copy.url)).toBe(dump(database.url))

    const settings =
      'select schema_name, table_name, function_name, timeout, max_retries, storage_time, notify, run_limit from tasks.types order by 1, 2'
    expect(await rowsOf(restored, settings)).toEqual(await rowsOf(session, settings))
    expect(await rowsOf(restored, 'select table_id::text from tasks.types order by 1')).toEqual(
      await rowsOf(session, 'select table_id::text from tasks.types order by 1'),
    )

    const heard: string[] = []
    restored.on('notification', (notification) => heard.push(notification.payload ?? ''))
    await restored.query('listen pg_tasks')
    await restored.query(
      'insert into app."Send Mail" (payload) values (\'new\'); insert into tasks.moved default values; insert into tasks.quiet default values',
    )
    expect(heard.sort()).toEqual(['app.Send Mail', 'tasks.moved'])
    expect(
      (await rowsOf(restored, 'select payload from tasks."acquire_app_Send Mail"(5)')).map((row) => row.payload),
    ).toEqual(['ready', 'new'])
    expect(await rowsOf(restored, 'select running from mails')).toEqual([{ running: '3' }])
    expect(await scalarOf(restored, 'select count(*) from board')).toBe('3')

    await restored.query('begin')
    await restored.query(
      "select tasks.register('app', 'Send Mail', timeout => '7 s', max_retries => null, storage_time => '1 day', run_limit => '3 s')",
    )
    expect(await scalarOf(restored, 'select pg_current_xact_id_if_assigned()')).toBeNull()
    await restored.query('commit')
    await restored.query("select tasks.unregister('tasks', 'quiet')")
    expect(await scalarOf(restored, 'select count(*) from tasks.types')).toBe('2')
  })
})
