import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { start, stop } from '@pg-tasks/embedded'
import { migrate } from '@pg-tasks/sql'
import { Client } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { binariesOf } from '../../support/postgres-major.js'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { runCli, startCli } from './run-cli.js'

const MODULES = join(import.meta.dirname, '..', '..', '..', 'node_modules')

/** A user's project; its server is stopped after the test. */
function project(directory = '.data/postgres'): string {
  const folder = temporaryFolder()
  symlinkSync(MODULES, join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  onTestFinished(async () => {
    await stop(join(folder, directory))
  })
  return folder
}

it('init and dev: from an empty folder to a task that has run, and an end that leaves nothing', async () => {
  const cwd = project()
  writeFileSync(join(cwd, 'tsconfig.json'), '{}')
  const init = await runCli(['init', '--json'], { cwd })
  expect(init.json).toEqual({ written: ['tasks/say-hello.sql', 'tasks/say-hello.ts', 'tasks/enqueue.ts'], kept: [] })
  expect((await runCli(['init', '--json'], { cwd })).json).toMatchObject({
    written: [],
    kept: expect.arrayContaining(['tasks/enqueue.ts']),
  })

  const dev = startCli(['dev', 'tasks/say-hello.ts', '--sql', 'tasks/say-hello.sql', '--port', '0', '--watch'], { cwd })
  await dev.line(/Dashboard: http|No dashboard: npm install/)
  await dev.line(/ready, serves tasks\.say_hello/)
  expect((await runCli(['enqueue', 'say_hello', 'name=world', '--embedded'], { cwd })).code).toBe(0)
  await dev.line(/^Hello world, attempt 1$/)

  const task = join(cwd, 'tasks', 'say-hello.ts')
  const before = dev.lines.length
  writeFileSync(task, readFileSync(task, 'utf8').replace('`Hello', '`Good morning'))
  await dev.line(/has changed/, before)
  await dev.line(/ready/, before)
  const { stdout: url } = await runCli(['dev', 'url'], { cwd })
  const enqueued = await runCli(['enqueue', 'say_hello', 'name=all', '--database-url', url.trim()], { cwd })
  expect(enqueued.code).toBe(0)
  await dev.line(/^Good morning all/, before)

  dev.signal('SIGINT')
  expect(await dev.ended).toEqual({ code: 0, signal: null })
  expect((await runCli(['dev', 'stop', '--json'], { cwd })).json).toMatchObject({ stopped: false })
})

it.each([
  ['{"type":"module"}', 'ts', 'ts'],
  ['{}', 'ts', 'mts'],
  ['{}', 'js', 'mjs'],
])('init writes modules that run in a package like %s, in %s', async (manifest, language, extension) => {
  const cwd = project()
  writeFileSync(join(cwd, 'package.json'), manifest)
  if (language === 'ts') writeFileSync(join(cwd, 'tsconfig.json'), '{}')
  const { stdout } = await runCli(['init'], { cwd })
  expect(stdout).toContain(`npx pg-tasks dev tasks/say-hello.${extension} `)
  expect(stdout.includes('npm install --save-dev tsx')).toBe(language === 'ts')

  const dev = startCli(['dev', `tasks/say-hello.${extension}`, '--sql', 'tasks/say-hello.sql', '--port', '0'], { cwd })
  expect(await dev.line(/^PostgreSQL runs/)).toContain('Ctrl-C ends it')
  await dev.line(/ready, serves tasks\.say_hello/)
  const { stdout: url } = await runCli(['dev', 'url'], { cwd })
  const script = spawnSync(
    process.execPath,
    ['--conditions=@pg-tasks/source', '--import', import.meta.resolve('tsx'), `tasks/enqueue.${extension}`, 'ann'],
    { cwd, env: { ...process.env, DATABASE_URL: url.trim() }, encoding: 'utf8' },
  )
  expect(script).toMatchObject({ stderr: '', stdout: 'Task 1 is enqueued.\n', status: 0 })
  await dev.line(/^Hello ann, attempt 1$/)
  dev.signal('SIGINT')
  expect(await dev.ended).toEqual({ code: 0, signal: null })
})

it('a config file names the embedded server and the modules; what it gets wrong is said', async () => {
  const cwd = project('database')
  const config = join(cwd, 'pg-tasks.config.json')
  writeFileSync(config, JSON.stringify({ embeded: 'database' }))
  const wrong = await runCli(['types'], { cwd })
  expect({ code: wrong.code, stderr: wrong.stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('Did you mean "embedded"?'),
  })
  writeFileSync(config, JSON.stringify({ embedded: 'database', tasks: ['nowhere.js'] }))
  expect((await runCli(['migrate', '--json'], { cwd })).code).toBe(0)
  expect(existsSync(join(cwd, 'database', 'data'))).toBe(true)
  expect((await runCli(['worker'], { cwd })).stderr).toContain('There is no module nowhere.js')
  expect((await runCli(['types', '--json'], { cwd })).json).toEqual({ types: [] })
  expect((await runCli(['dev', 'stop', '--json'], { cwd })).json).toMatchObject({ stopped: true })
})

it('upgrade moves a cluster of PostgreSQL 17 to the installed version, and leaves the old one', async () => {
  const cwd = project('pg')
  const directory = join(cwd, 'pg')
  const old = binariesOf(17)
  const server = await start(directory, old === undefined ? {} : { binaries: old })
  const client = new Client({ connectionString: server.url })
  await client.connect()
  await migrate(client)
  await client.query(`
    create table tasks.note (like tasks.template including defaults including identity including indexes, text text);
    select tasks.register('tasks', 'note', max_retries => 7);
    insert into tasks.note (text) values ('kept')`)
  await client.end()
  await server.stop()
  const options = ['--embedded=pg', '--json', ...(old === undefined ? [] : ['--old-binaries', old])]
  expect((await runCli(['migrate', '--embedded=pg'], { cwd })).stderr).toContain('PostgreSQL 17')
  const upgraded = await runCli(['dev', 'upgrade', ...options], { cwd })
  expect({ code: upgraded.code, stderr: upgraded.stderr }).toEqual({ code: 0, stderr: '' })
  expect(upgraded.json).toMatchObject({ from: '17', to: '18', old: 'pg-17', backup: 'pg-17-backup' })
  expect(readdirSync(cwd)).toEqual(expect.arrayContaining(['pg', 'pg-17', 'pg-17-backup']))
  const after = await start(directory)
  const look = new Client({ connectionString: after.url })
  await look.connect()
  expect(
    (await look.query('select text, run_token is not null as runs from tasks.acquire_tasks_note(1)')).rows,
  ).toEqual([{ text: 'kept', runs: true }])
  expect((await look.query('select max_retries from tasks.types')).rows).toEqual([{ max_retries: 7 }])
  await look.end()
})
