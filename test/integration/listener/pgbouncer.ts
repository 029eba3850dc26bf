import { spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitFor } from '../../support/wait-for.js'

const PROGRAM = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'].find(existsSync)

/** Why no test with pgbouncer can run here, or nothing. */
export const pgbouncerMissing = PROGRAM === undefined ? 'pgbouncer is not installed' : undefined

const NOBODY = 65_534

/** Its standard input ends with this process, however that ends. */
const ENDS_WITH_US = '"$1" "$2/pgbouncer.ini" & pid=$!; cat > /dev/null; kill -KILL $pid; rm -rf "$2"'

export interface PgBouncer {
  /** The connection string of the server, by way of pgbouncer. */
  readonly url: string
  readonly port: number
  stop(): Promise<void>
}

export interface PgBouncerOptions {
  readonly poolMode: 'transaction' | 'session'
  /** @defaultValue 5 */
  readonly poolSize?: number
  /** @defaultValue one that is free */
  readonly port?: number
}

/** Starts pgbouncer in front of a server; as another user if we are root, which it refuses to be. */
export async function startPgBouncer(serverUrl: string, options: PgBouncerOptions): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'pg-tasks-pgbouncer-'))
  const port = options.port ?? (await freePort())
  const server = new URL(serverUrl)
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: options.poolMode,
    default_pool_size: options.poolSize ?? 5,
    pidfile: join(folder, 'pid'),
  }
  const target = `host=${server.hostname} port=${server.port} user=${server.username} password=${server.password}`
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  writeFileSync(join(folder, 'pgbouncer.ini'), ['[databases]', `* = ${target}`, '[pgbouncer]', ...lines, ''].join('\n'))
  const root = process.getuid?.() === 0
  chmodSync(folder, 0o700)
  if (root) for (const path of [folder, join(folder, 'pgbouncer.ini')]) chownSync(path, NOBODY, NOBODY)
  const shell = spawn('/bin/sh', ['-c', ENDS_WITH_US, 'sh', PROGRAM ?? '', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    ...(root ? { uid: NOBODY, gid: NOBODY } : {}),
  })
  const ended = new Promise<void>((resolve) => shell.once('close', () => resolve()))
  await waitFor(() => accepts(port), { what: 'pgbouncer' })
  server.hostname = '127.0.0.1'
  server.port = String(port)
  return {
    url: server.href,
    port,
    stop() {
      shell.stdin.end()
      return ended
    },
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
