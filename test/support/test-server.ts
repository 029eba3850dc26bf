import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedPostgres, start, stop } from '@pg-tasks/embedded'
import { binariesOf, requestedMajor } from './postgres-major.js'

export interface TestServerOptions {
  /**
   * Whether commits reach the disk; off is faster, and is all right as long as the machine itself stays up.
   *
   * @defaultValue off, or what TEST_POSTGRES_FSYNC says (`on`, `off`)
   */
  readonly fsync?: boolean
  /** @defaultValue what TEST_POSTGRES_MAJOR says, else 18 */
  readonly major?: number
  /** Further server settings. */
  readonly settings?: Readonly<Record<string, string>>
  /** Fills the new directory before the first start, if it shall hold something else than a new cluster. */
  readonly prepare?: (directory: string) => Promise<void>
}

/** A server of one test's own, which the test may stop, cut and restart. */
export interface TestServer {
  readonly directory: string
  readonly url: string
  readonly port: number
  /** The server's process number, which a restart changes. */
  readonly pid: number
  /** Starts it again after {@link kill} or {@link stop}, on the same port, so that {@link url} stays true. */
  restart(): Promise<void>
  /** Ends it without warning, as a crash would: `kill -9`. */
  kill(): void
  /** Stops it in order and keeps the data. */
  stop(): Promise<void>
  /** Stops it and removes the directory. */
  remove(): Promise<void>
}

/** Starts a new server in a temporary directory; both end with this process, however it ends. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const directory = mkdtempSync(join(tmpdir(), 'pg-tasks-test-'))
  // Watched before it runs: an interrupted start leaves nothing either.
  const watchdog = watchDirectory(directory)
  const startOptions = embeddedOptions(options)
  let server: EmbeddedPostgres
  try {
    await options.prepare?.(directory)
    server = await start(directory, startOptions)
  } catch (error) {
    await watchdog.end()
    throw error
  }
  return {
    directory,
    get url() {
      return server.url
    },
    get port() {
      return server.port
    },
    get pid() {
      return server.pid
    },
    async restart() {
      server = await start(directory, { ...startOptions, port: server.port })
    },
    kill() {
      process.kill(server.pid, 'SIGKILL')
    },
    async stop() {
      await stop(directory)
    },
    remove: () => watchdog.end(),
  }
}

function embeddedOptions(options: TestServerOptions) {
  const binaries = binariesOf(options.major ?? requestedMajor())
  const fsync = options.fsync ?? process.env.TEST_POSTGRES_FSYNC === 'on'
  // synchronous_commit stays on: without it, kill -9 of the server loses what it has acknowledged.
  const speed = fsync ? {} : { fsync: 'off', full_page_writes: 'off' }
  return {
    settings: { max_connections: '200', shared_buffers: '64MB', ...speed, ...options.settings },
    ...(binaries === undefined ? {} : { binaries }),
  }
}

/**
 * A shell that waits until we are gone (its standard input ends), stops the server and removes its directory. It sits in
 * a session of its own, so that Ctrl-C doesn't end it before its work is done.
 */
const WATCHDOG = `
cat > /dev/null
pid=$(head -n 1 "$1/data/postmaster.pid" 2> /dev/null)
if [ -n "$pid" ]; then
  kill -INT "$pid" 2> /dev/null
  n=0
  while [ -e "$1/data/postmaster.pid" ] && kill -0 "$pid" 2> /dev/null && [ $n -lt 100 ]; do sleep 0.05; n=$((n + 1)); done
  kill -QUIT "$pid" 2> /dev/null
fi
rm -rf "$1"
`

function watchDirectory(directory: string): { end(): Promise<void> } {
  chmodSync(directory, 0o700)
  const shell = spawn('/bin/sh', ['-c', WATCHDOG, 'sh', directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const ended = new Promise<void>((resolve) => shell.once('close', () => resolve()))
  shell.unref()
  ;(shell.stdin as unknown as { unref(): void }).unref()
  return {
    end() {
      shell.ref()
      shell.stdin.end()
      return ended
    },
  }
}
