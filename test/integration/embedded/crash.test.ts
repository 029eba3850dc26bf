import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { start, stop } from '@pg-tasks/embedded'
import { describe, expect, it } from 'vitest'
import { waitFor } from '../../support/wait-for.js'
import { spawnScript } from '../../support/worker-process.js'
import { embeddedDirectory } from './embedded-directory.js'
import { query } from './query.js'

const STARTER = new URL('./workers/start-server.ts', import.meta.url)

describe('a server whose end nobody planned', () => {
  it('comes back after kill -9 with what was committed, on the same port', async () => {
    const directory = embeddedDirectory()
    const first = await start(directory)
    await query(first.url, 'create table kept as select 1 as n')
    process.kill(first.pid, 'SIGKILL')
    const second = await start(directory)
    expect(second).toMatchObject({ attached: false, url: first.url })
    expect(second.pid).not.toBe(first.pid)
    expect(await query(second.url, 'table kept')).toEqual([{ n: 1 }])
  })

  it('is no failure for stop', async () => {
    const directory = embeddedDirectory()
    const server = await start(directory)
    process.kill(server.pid, 'SIGKILL')
    // The first calls may still see it dying.
    await waitFor(async () => !(await server.stop()))
    expect(await stop(directory)).toBe(false)
    expect(await stop(join(directory, 'elsewhere'))).toBe(false)
  })

  it('does not keep the next one from starting when another program has its process number', async () => {
    const directory = embeddedDirectory()
    const server = await start(directory)
    const file = join(directory, 'data', 'postmaster.pid')
    const pidFile = readFileSync(file, 'utf8')
    await server.stop()
    writeFileSync(file, pidFile.replace(/^\d+/, String(process.pid)))
    expect(await stop(directory)).toBe(false)
    expect((await start(directory)).attached).toBe(false)
    expect(readdirSync(join(directory, 'data')).filter((name) => name.startsWith('postmaster.pid'))).toHaveLength(1)
  })

  it('leaves no half cluster when initdb is interrupted', async () => {
    const directory = embeddedDirectory()
    const starter = spawnScript(STARTER, { args: [directory] })
    const draft = () => readdirSync(directory).find((name) => name.startsWith('data.new-'))
    await waitFor(() => {
      try {
        return draft()
      } catch {
        return undefined
      }
    })
    await starter.kill('SIGKILL')
    const server = await start(directory)
    await query(server.url, 'select 1')
    expect(draft()).toBeUndefined()
  })
})

describe('a process that started a server', () => {
  it.each(['SIGINT', 'SIGKILL'] as const)('leaves it running when it ends by %s', async (signal) => {
    const directory = embeddedDirectory()
    const starter = spawnScript(STARTER, { args: [directory], detached: true })
    const first = JSON.parse(await starter.line('"url"')) as { url: string; pid: number }
    // Ctrl-C in a terminal reaches the whole process group.
    process.kill(-starter.pid, signal)
    expect((await starter.exited).signal).toBe(signal)
    await query(first.url, 'select 1')
    expect(await start(directory)).toMatchObject({ attached: true, pid: first.pid })
  })

  it('can end at once: nothing of the server keeps it', async () => {
    const directory = embeddedDirectory()
    const starter = spawnScript(STARTER, { args: [directory, 'and-end'] })
    expect(await starter.exited).toEqual({ code: 0, signal: null })
    expect((await start(directory)).attached).toBe(true)
  })
})

describe('starts at once', () => {
  it.each(['a new cluster', 'a stopped cluster', 'a crashed cluster'])('share one server of %s', async (what) => {
    const directory = embeddedDirectory()
    await mkdir(directory, { mode: 0o700 })
    if (what !== 'a new cluster') {
      const server = await start(directory)
      if (what === 'a crashed cluster') process.kill(server.pid, 'SIGKILL')
      else await server.stop()
    }
    const starters = [1, 2].map(() => spawnScript(STARTER, { args: [directory] }))
    const lines = await Promise.all(starters.map((starter) => starter.line('"url"')))
    const servers = [
      ...lines.map((line) => JSON.parse(line) as { url: string; attached: boolean }),
      ...(await Promise.all([start(directory), start(directory)])),
    ]
    expect(new Set(servers.map(({ url }) => url)).size).toBe(1)
    expect(servers.filter(({ attached }) => !attached)).toHaveLength(1)
  })
})
