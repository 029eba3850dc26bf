import { existsSync } from 'node:fs'
import { mkdir, rm, rmdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { type EmbeddedPostgres, start, stop } from '@pg-tasks/embedded'
import { Client } from 'pg'
import { DATA, UsageError } from './arguments.js'
import type { Folders } from './compress-file.js'

const DATABASE = 'quickstart'

/** The key of the lock that a run holds on its server. */
const RUN_LOCK = 20_260_101

/** Where a run's server and copies live. */
export class Home {
  readonly path: string
  readonly postgres: string
  readonly copies: string
  readonly unfinished: string
  #server: EmbeddedPostgres | undefined
  #lock: Client | undefined

  constructor(path: string) {
    this.path = path
    this.postgres = join(path, 'postgres')
    this.copies = join(path, 'copies')
    this.unfinished = join(path, 'unfinished')
  }

  /** Whether an earlier run has left its server's files. */
  get exists(): boolean {
    return existsSync(this.postgres)
  }

  folders(source: string): Folders {
    return { source, copies: this.copies, unfinished: this.unfinished }
  }

  /** Starts the server, or attaches to one that an earlier run has left. */
  async open(): Promise<void> {
    await mkdir(this.path, { recursive: true })
    this.#server = await start(this.postgres)
    this.#lock = new Client({ connectionString: this.#server.url, application_name: 'quickstart' })
    this.#lock.on('error', () => {})
    await this.#lock.connect()
    const { rows } = await this.#lock.query<{ free: boolean }>('select pg_try_advisory_lock($1) as free', [RUN_LOCK])
    if (rows[0]?.free === true) return
    await this.leave()
    throw new UsageError(`Another quickstart runs in ${this.path}: wait for it, or give another folder with --in.`)
  }

  /** A new database; the copies of an earlier run go with its database. */
  async createDatabase(): Promise<void> {
    await this.#lock?.query(`drop database if exists ${DATABASE} with (force)`)
    await this.#lock?.query(`create database ${DATABASE}`)
    await this.#removeCopies()
  }

  get hasDatabase(): Promise<boolean> {
    const asked = this.#lock?.query('select from pg_database where datname = $1', [DATABASE])
    return Promise.resolve(asked).then((result) => result?.rowCount === 1)
  }

  get connectionString(): string {
    const url = new URL(this.#server?.url ?? '')
    url.pathname = `/${DATABASE}`
    return url.href
  }

  /** A command that opens psql; the password stays in its file. */
  get psqlCommand(): string {
    const passwordFile = relative(process.cwd(), join(this.postgres, 'password'))
    return `PGPASSWORD=$(cat '${passwordFile}') psql -h 127.0.0.1 -p ${this.#server?.port} -U postgres ${DATABASE}`
  }

  /** Goes away from the server, which goes on. */
  async leave(): Promise<void> {
    await this.#lock?.end()
    this.#lock = undefined
  }

  /** Ends the server and removes what was made, and nothing else. */
  async remove(): Promise<void> {
    await this.leave()
    if (this.exists) await stop(this.postgres)
    await rm(this.postgres, { recursive: true, force: true, maxRetries: 5 })
    await this.#removeCopies()
    // What holds other things stays.
    for (const folder of [this.path, DATA]) await rmdir(folder).catch(() => {})
  }

  async #removeCopies(): Promise<void> {
    await rm(this.copies, { recursive: true, force: true, maxRetries: 5 })
    await rm(this.unfinished, { recursive: true, force: true, maxRetries: 5 })
  }
}
