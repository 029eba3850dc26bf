import { randomUUID } from 'node:crypto'
import { createDatabaseFrom, databaseExists, dropDatabase, lockName, renameDatabase, unlockName } from '@pg-tasks/sql'
import { createClient } from '../connection/create-client.js'
import { checkOptions } from '../options/check-options.js'
import { callback, text } from '../options/checks.js'

/** How {@link templateDatabase} makes its template. */
export interface TemplateDatabaseOptions {
  /** URL of any database of the server, for a role that may create databases. */
  readonly connectionString: string
  /**
   * Name of the template. It is made once per server and name and used again by later runs: let it change with your
   * migrations, by a hash of them for instance.
   */
  readonly name: string
  /** Fills the template: migrations, types, fixed rows. Close all connections before it returns. */
  readonly prepare: (connectionString: string) => Promise<void>
}

/** A database of a test's own. */
export interface TestDatabase {
  readonly name: string
  readonly connectionString: string
  /** Drops it, whoever is connected. */
  drop(): Promise<void>
}

/** A template of databases. */
export interface TemplateDatabase {
  readonly name: string
  /** A copy; takes some 50 ms. */
  create(): Promise<TestDatabase>
}

/**
 * Makes a database that tests copy: each file, or each test, then has one of its own, with workers, commits and all. The
 * template stays on the server; of processes that need it at the same time, one makes it.
 *
 * @throws InvalidOptionError that names the option; what `prepare` throws; the database's error if the role may not create
 * databases
 *
 * @example
 * const template = await templateDatabase({ connectionString, name: 'shop_test_v12', prepare: migrateShop })
 * const database = await template.create()
 * const pool = new Pool({ connectionString: database.connectionString })
 */
export async function templateDatabase(options: TemplateDatabaseOptions): Promise<TemplateDatabase> {
  const { connectionString, name, prepare } = checkOptions<TemplateDatabaseOptions>('templateDatabase', options, {
    connectionString: text(),
    name: (given, refuse) => {
      const name = text()(given, refuse)
      return Buffer.byteLength(name) <= 63 ? name : refuse('must have at most 63 bytes.')
    },
    prepare: callback(),
  })
  await onServer(connectionString, async (server) => {
    await lockName(server, name)
    try {
      if (!(await databaseExists(server, name))) await make(server, { connectionString, name, prepare })
    } finally {
      await unlockName(server, name)
    }
  })
  return Object.freeze({
    name,
    create: async (): Promise<TestDatabase> => {
      const copy = nameFrom(name)
      await onServer(connectionString, (server) => createDatabaseFrom(server, copy, name))
      return Object.freeze({
        name: copy,
        connectionString: urlOf(connectionString, copy),
        drop: () => onServer(connectionString, (server) => dropDatabase(server, copy)),
      })
    },
  })
}

type Server = ReturnType<typeof createClient>['client']

/** Under another name until it is whole: one that was interrupted is not taken for it. */
async function make(server: Server, { connectionString, name, prepare }: TemplateDatabaseOptions): Promise<void> {
  const draft = nameFrom(name)
  await createDatabaseFrom(server, draft, 'template0')
  try {
    await prepare(urlOf(connectionString, draft))
    await renameDatabase(server, draft, name)
  } catch (error) {
    await dropDatabase(server, draft)
    throw error
  }
}

async function onServer<Value>(connectionString: string, work: (server: Server) => Promise<Value>): Promise<Value> {
  const { client } = createClient({ connectionString }, 'pg-tasks testing')
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** At most 63 bytes, as PostgreSQL has them. */
function nameFrom(name: string): string {
  return `${Buffer.from(name).subarray(0, 40).toString('utf8')}_${randomUUID().slice(0, 18)}`
}

function urlOf(connectionString: string, name: string): string {
  const url = new URL(connectionString)
  url.pathname = `/${encodeURIComponent(name)}`
  return url.href
}
