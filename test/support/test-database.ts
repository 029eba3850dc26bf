import { Client, Pool } from 'pg'
import { inject } from 'vitest'
import { openSessions } from './leak-check.js'
import { databaseUrl, quoteIdentifier, uniqueName } from './names.js'
import { migratedTemplate } from './template-database.js'

export interface CreateDatabaseOptions {
  /**
   * Whether our migrations are applied.
   *
   * @defaultValue true
   */
  readonly migrations?: boolean
  /**
   * The server to make it on, for tests that have one of their own.
   *
   * @defaultValue the server of the run
   */
  readonly serverUrl?: string
}

/** A database of one test file's own. */
export interface TestDatabase {
  readonly name: string
  /** The superuser's connection string. */
  readonly url: string
  /** For the test's own queries. */
  readonly pool: Pool
  /** A new connection of the test's own, closed by {@link drop} at the latest. */
  client(): Promise<Client>
  /** A role that can log in and connect, dropped with the database; `attributes` as in CREATE ROLE. */
  createRole(purpose: string, attributes?: string): Promise<TestRole>
  /**
   * Drops it. Every test file's databases are dropped at its end anyway.
   *
   * @throws if a session is open that isn't of the test's own: the tested code has left a connection behind
   */
  drop(): Promise<void>
}

export interface TestRole {
  readonly name: string
  /** The connection string of the test's database for this role. */
  readonly url: string
}

const databases = new Set<TestDatabase>()

/** Makes a database by cloning a template, in some 50 ms. Call it once per test file, at its top or in `beforeAll`. */
export async function createDatabase(options: CreateDatabaseOptions = {}): Promise<TestDatabase> {
  const serverUrl = options.serverUrl ?? inject('serverUrl')
  const name = uniqueName('pg_tasks_test')
  await withServer(serverUrl, async (server) => {
    const template = options.migrations === false ? 'template0' : await migratedTemplate(server, serverUrl)
    await server.query(`create database ${quoteIdentifier(name)} template ${quoteIdentifier(template)}`)
  })
  const database = new OwnDatabase(serverUrl, name)
  databases.add(database)
  return database
}

/** Drops what the file has made; called at the end of every file. */
export async function dropAllDatabases(): Promise<void> {
  const results = await Promise.allSettled([...databases].map((database) => database.drop()))
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures)
}

class OwnDatabase implements TestDatabase {
  readonly name: string
  readonly url: string
  readonly pool: Pool
  readonly #serverUrl: string
  readonly #clients = new Set<Client>()
  readonly #roles: string[] = []

  constructor(serverUrl: string, name: string) {
    this.#serverUrl = serverUrl
    this.name = name
    this.url = databaseUrl(serverUrl, name)
    this.pool = new Pool({ connectionString: this.url, application_name: 'test pool' })
    // Tests cut connections and stop servers; a query on such a connection tells, the idle ones needn't.
    this.pool.on('error', () => {})
  }

  async client(): Promise<Client> {
    const client = new Client({ connectionString: this.url, application_name: 'test client' })
    client.on('error', () => {})
    await client.connect()
    this.#clients.add(client)
    return client
  }

  async createRole(purpose: string, attributes = ''): Promise<TestRole> {
    const name = uniqueName(purpose)
    await this.pool.query(`create role ${quoteIdentifier(name)} login password '${name}' ${attributes}`)
    this.#roles.push(name)
    const url = new URL(this.url)
    url.username = name
    url.password = name
    return { name, url: url.href }
  }

  async drop(): Promise<void> {
    if (!databases.delete(this)) return
    await Promise.all([this.pool.end(), ...[...this.#clients].map((client) => client.end())])
    await withServer(this.#serverUrl, async (server) => {
      const left = await openSessions(server, this.name)
      await server.query(`drop database if exists ${quoteIdentifier(this.name)} with (force)`)
      for (const role of this.#roles) await server.query(`drop role if exists ${quoteIdentifier(role)}`)
      if (left.length > 0) throw new Error(`Connections were left open:\n${left.join('\n')}`)
    })
  }
}

async function withServer<T>(serverUrl: string, use: (server: Client) => Promise<T>): Promise<T> {
  const server = new Client({ connectionString: serverUrl, application_name: 'test setup' })
  await server.connect()
  try {
    return await use(server)
  } finally {
    await server.end()
  }
}
