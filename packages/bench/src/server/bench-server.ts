import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedPostgres, start, stop } from '@pg-tasks/embedded'
import pg from 'pg'

/** Defaults of initdb but for these; everything that makes a commit durable is on. */
const SETTINGS: Readonly<Record<string, string>> = {
  shared_buffers: '1GB',
  max_wal_size: '8GB',
  checkpoint_timeout: '1h',
  max_connections: '200',
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'none',
}

/** A database of one trial's own. */
export interface TrialDatabase {
  readonly url: string
  drop(): Promise<void>
}

/** The server that is measured: an embedded one in a temporary folder, or one that was given. */
export class BenchServer {
  readonly #url: string
  readonly #directory: string | undefined
  readonly #client: pg.Client
  #databases = 0
  readonly version: string
  /** Its main process, where it is on this machine: only then can its CPU time be read. */
  readonly postmaster: number | undefined
  readonly settings: string

  private constructor(url: string, directory: string | undefined, client: pg.Client, facts: ServerFacts) {
    this.#url = url
    this.#directory = directory
    this.#client = client
    this.version = facts.version
    this.postmaster = facts.postmaster
    this.settings = facts.settings
  }

  static async open(url: string | undefined): Promise<BenchServer> {
    const directory = url === undefined ? mkdtempSync(join(tmpdir(), 'pg-tasks-bench-')) : undefined
    const server: Pick<EmbeddedPostgres, 'url'> & Partial<EmbeddedPostgres> =
      url === undefined ? await start(directory as string, { settings: SETTINGS }) : { url }
    const client = new pg.Client({ connectionString: server.url, application_name: 'bench' })
    await client.connect()
    client.on('error', (error) => process.stderr.write(`${error.message}\n`))
    return new BenchServer(server.url, directory, client, await describeServer(client, server.pid))
  }

  /** @param countStatements - whether pg_stat_statements records what happens there */
  async createDatabase(countStatements: boolean): Promise<TrialDatabase> {
    this.#databases += 1
    const name = `bench_${process.pid}_${this.#databases}`
    await this.#client.query(`create database ${name}`)
    if (countStatements) await this.#client.query(`alter database ${name} set pg_stat_statements.track = 'top'`)
    const url = new URL(this.#url)
    url.pathname = `/${name}`
    return {
      url: url.href,
      drop: async () => {
        await this.#client.query(`drop database if exists ${name} with (force)`)
      },
    }
  }

  /** So that no checkpoint of the last trial's falls into the next, nor a page image after one. */
  async checkpoint(): Promise<void> {
    await this.#client.query('checkpoint')
  }

  async close(): Promise<void> {
    await this.#client.end()
    if (this.#directory === undefined) return
    await stop(this.#directory)
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

interface ServerFacts {
  readonly version: string
  readonly postmaster: number | undefined
  readonly settings: string
}

async function describeServer(client: pg.Client, pid: number | undefined): Promise<ServerFacts> {
  const { rows } = await client.query(
    `select current_setting('server_version') as version,
       (select string_agg(s.name || ' ' || current_setting(s.name), ', ' order by s.name) from pg_settings s
        where s.name in ('shared_buffers', 'max_wal_size', 'checkpoint_timeout', 'fsync', 'synchronous_commit',
          'full_page_writes', 'wal_level', 'data_checksums', 'max_connections')) as settings`,
  )
  return { version: rows[0].version, settings: rows[0].settings, postmaster: pid }
}
