import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { start } from '@pg-tasks/embedded'
import { describe, expect, it, onTestFinished } from 'vitest'
import { binariesOf } from '../../support/postgres-major.js'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { embeddedDirectory } from './embedded-directory.js'
import { query } from './query.js'

const isRoot = process.getuid?.() === 0
const hasNamespaces = spawnSync('unshare', ['--user', '--map-user=1000', '--map-group=1000', 'true']).status === 0

const COPIES = '/var/cache/pg-tasks-embedded'
const copies = () => (existsSync(COPIES) ? readdirSync(COPIES) : [])

/** PostgreSQL refuses to run as root, so these are about who runs it instead. */
describe.runIf(isRoot)('start as root', () => {
  it('hands the server to another user', async () => {
    const directory = embeddedDirectory()
    const server = await start(directory)
    expect(statSync(`/proc/${server.pid}`).uid).not.toBe(0)
    expect(statSync(join(directory, 'password')).uid).toBe(statSync(join(directory, 'data')).uid)
  })

  it('leaves a cluster in a user’s folder to that user', async () => {
    const folder = temporaryFolder()
    chownSync(folder, 1, 1)
    chmodSync(folder, 0o700)
    const server = await start(join(folder, 'postgres'))
    try {
      expect(statSync(`/proc/${server.pid}`)).toMatchObject({ uid: 1, gid: 1 })
    } finally {
      await server.stop()
    }
  })

  it('gives a folder of a mere number to a user that the system knows', async () => {
    const folder = temporaryFolder()
    chownSync(folder, 12_345, 12_345)
    const server = await start(join(folder, 'postgres'))
    try {
      expect(statSync(`/proc/${server.pid}`).uid).not.toBe(12_345)
    } finally {
      await server.stop()
    }
  })

  it('says what to do if nobody else can enter the folder', async () => {
    const folder = temporaryFolder()
    chownSync(folder, 12_345, 12_345)
    chmodSync(folder, 0o700)
    await expect(start(join(folder, 'postgres'))).rejects.toMatchObject({ code: 'EMBEDDED_DIRECTORY_UNREACHABLE' })
  })

  it.runIf(hasNamespaces)('runs in a folder that only root can enter', async () => {
    const folder = temporaryFolder()
    chmodSync(folder, 0o700)
    const directory = join(folder, 'postgres')
    const server = await start(directory)
    try {
      expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }])
      process.kill(server.pid, 'SIGKILL')
      expect((await start(directory)).attached).toBe(false)
    } finally {
      expect(await server.stop()).toBe(true)
    }
  })

  it('runs binaries that only root can read', async () => {
    const folder = temporaryFolder()
    const copiesBefore = copies()
    onTestFinished(() => {
      for (const copy of copies()) {
        if (!copiesBefore.includes(copy)) rmSync(join(COPIES, copy), { recursive: true })
      }
    })
    const binaries = binariesOf(17) ?? ''
    cpSync(dirname(binaries), join(folder, 'package'), { recursive: true, dereference: true })
    mkdirSync(join(folder, 'own'), { mode: 0o755 })
    chmodSync(join(folder, 'package'), 0o700)
    const server = await start(embeddedDirectory(join(folder, 'own')), { binaries: join(folder, 'package', 'native') })
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }])
  })
})
