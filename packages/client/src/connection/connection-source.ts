import { InvalidOptionError } from '../errors/invalid-option-error.js'
import { connectionStringAddress, connectionStringProblem, connectionStringSetsSsl } from './check-connection-string.js'
import type { ClientConfig, ConnectionOptions } from './connection-options.js'
import type { PoolLike } from './queryable.js'

/** One server that may be connected to. */
export interface Server {
  readonly config: ClientConfig
  /** `host:port` or a socket's path, for messages. */
  readonly address: string
}

/**
 * Where connections come from: one server or several, of which the one that worked last is tried first. Pool, listener and
 * dedicated connections of a worker share it, so that all of them follow a failover together.
 */
export class ConnectionSource {
  readonly #servers: readonly Server[]
  #preferred = 0
  /** The user's pool, where one was given. */
  readonly pool: PoolLike | undefined
  /** What is odd but works, to be logged once. */
  readonly warnings: readonly string[]

  constructor(servers: readonly [Server, ...Server[]], pool?: PoolLike, warnings: readonly string[] = []) {
    this.#servers = servers
    this.pool = pool
    this.warnings = warnings
  }

  /** The servers, in the order in which they should be tried now. */
  get servers(): readonly Server[] {
    return [...this.#servers.slice(this.#preferred), ...this.#servers.slice(0, this.#preferred)]
  }

  /** The server to try first. */
  get current(): Server {
    return this.#servers[this.#preferred] as Server
  }

  /** Notes that this server can be reached and written to. */
  succeeded(server: Server): void {
    const index = this.#servers.indexOf(server)
    if (index >= 0) this.#preferred = index
  }

  /** Notes that this server is away or read-only: another one is tried first from now on. */
  failed(server: Server): void {
    if (this.current === server) this.#preferred = (this.#preferred + 1) % this.#servers.length
  }
}

/**
 * Checks the options that say where the database is.
 *
 * @param owner - whose options they are, for messages: `Worker`
 * @throws InvalidOptionError if none is given, or one can't be understood
 */
export function resolveConnection(owner: string, options: ConnectionOptions): ConnectionSource {
  const { connectionConfig, pool } = options
  if (pool !== undefined) checkPool(owner, pool)
  if (connectionConfig !== undefined) checkConfig(owner, connectionConfig)
  const strings = connectionStrings(owner, options)
  const base = connectionConfig ?? (strings.length === 0 && pool !== undefined ? poolConfig(owner, pool) : undefined)
  if (strings.length === 0 && base === undefined) {
    const problem = 'is missing: give it (is its environment variable set?), or "connectionConfig", or a "pool".'
    throw new InvalidOptionError(owner, 'connectionString', problem)
  }
  const [first, ...rest] = strings.map((connectionString): Server => serverOf({ ...base, connectionString }))
  const warnings = strings.filter((url) => base?.ssl !== undefined && connectionStringSetsSsl(url)).map(sslWarning)
  return new ConnectionSource(first === undefined ? [serverOf(base ?? {})] : [first, ...rest], pool, warnings)
}

function connectionStrings(owner: string, options: ConnectionOptions): readonly string[] {
  if (!('connectionString' in options)) return []
  const given: unknown = options.connectionString
  const list: readonly unknown[] = Array.isArray(given) ? given : [given]
  if (list.length === 0) throw new InvalidOptionError(owner, 'connectionString', 'is an empty list.')
  for (const one of list) {
    const problem = connectionStringProblem(one)
    if (problem !== undefined) throw new InvalidOptionError(owner, 'connectionString', problem)
  }
  return list as readonly string[]
}

function checkPool(owner: string, pool: PoolLike): void {
  const { connect, query } = (pool ?? {}) as { connect?: unknown; query?: unknown }
  if (typeof connect === 'function' && typeof query === 'function') return
  throw new InvalidOptionError(owner, 'pool', 'must be a pg Pool: an object with connect() and query().')
}

function checkConfig(owner: string, config: unknown): void {
  if (typeof config !== 'object' || config === null) {
    const meant = typeof config === 'string' ? ' A URL goes into "connectionString".' : ''
    throw new InvalidOptionError(owner, 'connectionConfig', `must be an object of node-postgres settings.${meant}`)
  }
  const { connectionString } = config as ClientConfig
  const problem = connectionString === undefined ? undefined : connectionStringProblem(connectionString)
  if (problem !== undefined) throw new InvalidOptionError(owner, 'connectionConfig.connectionString', problem)
  for (const [written, meant] of Object.entries(OTHER_NAMES)) {
    if (!(written in config)) continue
    const problem = `is ignored by node-postgres; its name is "${meant}".`
    throw new InvalidOptionError(owner, `connectionConfig.${written}`, problem)
  }
}

/** Other drivers' names; with them node-postgres would silently connect to another database or as another user. */
const OTHER_NAMES = { dbname: 'database', username: 'user', hostname: 'host', pass: 'password', passwd: 'password' }

function poolConfig(owner: string, pool: PoolLike): ClientConfig {
  const { options } = pool
  if (typeof options !== 'object' || options === null) {
    throw new InvalidOptionError(owner, 'pool', 'does not show its options; give "connectionString" besides.')
  }
  const { password, ssl } = options as ClientConfig
  // pg-pool hides the password, and the private key, from enumeration: a mere spread loses them.
  const config: Record<string, unknown> = { ...options }
  if (password !== undefined) config.password = password
  if (typeof ssl === 'object' && ssl !== null) config.ssl = { ...ssl, ...('key' in ssl ? { key: ssl.key } : {}) }
  for (const poolOnly of POOL_ONLY) delete config[poolOnly]
  return config as ClientConfig
}

const POOL_ONLY = ['Client', 'Promise', 'log', 'max', 'min', 'onConnect', 'verify'] as const

function serverOf(config: ClientConfig): Server {
  const { connectionString, host, port } = config
  if (connectionString !== undefined) return { config, address: connectionStringAddress(connectionString) }
  if (host?.startsWith('/')) return { config, address: host }
  return { config, address: `${host ?? 'localhost'}:${port ?? 5432}` }
}

function sslWarning(url: string): string {
  return `The connection string of ${connectionStringAddress(url)} says how to encrypt, so node-postgres ignores the "ssl" setting; give only one.`
}
