import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { EmbeddedPostgresError, start, stop } from '@pg-tasks/embedded'
import { describe, expect, it } from 'vitest'
import { binariesOf } from '../../support/postgres-major.js'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { embeddedDirectory } from './embedded-directory.js'
import { query } from './query.js'

describe('start', () => {
  it('makes a UTF-8 cluster that only its password opens, on the loopback address only', async () => {
    const directory = embeddedDirectory()
    const server = await start(directory)
    expect(server.attached).toBe(false)
    expect(new URL(server.url).port).toBe(String(server.port))

    const [settings] = await query(
      server.url,
      `select current_setting('server_encoding') as encoding, current_setting('listen_addresses') as addresses,
              current_setting('unix_socket_directories') as sockets, current_setting('password_encryption') as passwords,
              current_setting('fsync') as fsync, lower('ÄÖ') as lowered`,
    )
    expect(settings).toEqual({
      encoding: 'UTF8',
      addresses: '127.0.0.1',
      sockets: '',
      passwords: 'scram-sha-256',
      fsync: 'on',
      lowered: 'äö',
    })
    const wrong = new URL(server.url)
    wrong.password = 'wrong'
    await expect(query(wrong.href, 'select 1')).rejects.toMatchObject({ code: '28P01' })
    expect(readFileSync(join(directory, 'data', 'pg_hba.conf'), 'utf8')).not.toMatch(/^\w.*trust/m)
  })

  it('keeps the password where only its owner reads it, and nowhere else', async () => {
    const directory = embeddedDirectory()
    await start(directory)
    expect(statSync(join(directory, 'password')).mode & 0o777).toBe(0o600)
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    expect(readdirSync(directory).sort()).toEqual(['.gitignore', 'data', 'password', 'server.log'])
    expect(readFileSync(join(directory, '.gitignore'), 'utf8')).toBe('*\n')
  })

  it('attaches to the server that runs, and stops it for everyone', async () => {
    const directory = embeddedDirectory()
    const first = await start(directory)
    const second = await start(directory, { port: 1 })
    expect(second).toMatchObject({ attached: true, url: first.url, port: first.port, pid: first.pid })
    expect(await second.stop()).toBe(true)
    await expect(query(first.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    expect(await first.stop()).toBe(false)
  })

  it('keeps the data and the port between runs', async () => {
    const directory = embeddedDirectory()
    const first = await start(directory)
    await query(first.url, 'create table kept ()')
    await first.stop()
    const second = await start(directory)
    expect(second).toMatchObject({ attached: false, url: first.url })
    await query(second.url, 'table kept')
  })

  it('takes another port if somebody has taken the last one', async () => {
    const directory = embeddedDirectory()
    const first = await start(directory)
    await first.stop()
    const squatter = createServer().listen(first.port, '127.0.0.1')
    try {
      const second = await start(directory)
      expect(second.port).not.toBe(first.port)
      await query(second.url, 'select 1')
      await second.stop()
      await expect(start(directory, { port: first.port })).rejects.toMatchObject({ code: 'EMBEDDED_PORT_TAKEN' })
    } finally {
      squatter.close()
    }
  })

  it('passes settings on, whatever characters they contain', async () => {
    const server = await start(embeddedDirectory(), {
      settings: { cluster_name: `it's "$HOME"`, max_connections: '7' },
    })
    const [row] = await query(
      server.url,
      `select current_setting('cluster_name') as name, current_setting('max_connections') as connections`,
    )
    expect(row).toEqual({ name: `it's "$HOME"`, connections: '7' })
  })

  it('ignores environment variables that are meant for other servers', async () => {
    const directory = embeddedDirectory()
    const before = { ...process.env }
    Object.assign(process.env, {
      PGDATA: '/nowhere',
      PGPORT: '1',
      PGSSLMODE: 'require',
      LANG: 'C',
      LC_ALL: 'de_DE.UTF-8',
    })
    try {
      const server = await start(directory)
      expect(server.attached).toBe(false)
    } finally {
      process.env = before
    }
  })

  it('reports a server that ends while starting, with its last words', async () => {
    const directory = embeddedDirectory()
    const failure = await start(directory, { settings: { shared_buffers: 'plenty' } }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(EmbeddedPostgresError)
    expect(failure).toMatchObject({ code: 'EMBEDDED_START_FAILED' })
    expect(String(failure)).toContain('invalid value for parameter "shared_buffers"')
    expect((await start(directory)).attached).toBe(false)
  })

  it('refuses options that make no sense', async () => {
    const invalid = { code: 'EMBEDDED_OPTION_INVALID' }
    await expect(start('x', { prot: 1 } as object)).rejects.toMatchObject(invalid)
    await expect(start('x', { port: 70_000 })).rejects.toMatchObject(invalid)
    await expect(start('x', { startTimeoutMs: 0 })).rejects.toMatchObject(invalid)
    await expect(start('x', { binaries: 14 as never })).rejects.toMatchObject(invalid)
    await expect(start('')).rejects.toMatchObject(invalid)
    await expect(start(undefined as never)).rejects.toMatchObject({
      ...invalid,
      message: /directory is undefined: give/,
    })
    await expect(stop(undefined as never)).rejects.toMatchObject(invalid)
    await expect(start('x', { settings: { listen_addresses: '*' } })).rejects.toMatchObject(invalid)
    await expect(start('x', { settings: { 'a b': '1' } })).rejects.toMatchObject(invalid)
    expect(existsSync('x')).toBe(false)
  })

  it('leaves a folder alone that it has not made', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'data'))
    writeFileSync(join(folder, 'data', 'precious'), '')
    await expect(start(folder)).rejects.toMatchObject({ code: 'EMBEDDED_DIRECTORY_FOREIGN' })
    expect(readdirSync(join(folder, 'data'))).toEqual(['precious'])
  })

  it('runs other versions, and says so when a cluster belongs to one', async () => {
    const directory = embeddedDirectory()
    const binaries = binariesOf(14)
    const server = await start(directory, binaries === undefined ? {} : { binaries })
    expect(await query(server.url, 'show server_version')).toEqual([{ server_version: expect.stringMatching(/^14\./) }])
    await stop(directory)
    await expect(start(directory)).rejects.toMatchObject({ code: 'EMBEDDED_VERSION_MISMATCH' })
  })
})
