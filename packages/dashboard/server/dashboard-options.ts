import { InvalidOptionError, type Logger, type PoolLike } from '@pg-tasks/client'
import { resolveBasePath } from './base-path.js'

/** Somebody who uses the dashboard. */
export interface DashboardUser {
  /** As the audit names them. */
  readonly name: string
  /**
   * Whether they may look only.
   * @defaultValue false
   */
  readonly readOnly?: boolean | undefined
}

/** A user who signs in with a token. */
export interface TokenUser extends DashboardUser {
  /** At least 16 characters; compared in constant time, sent by nobody but the user. */
  readonly token: string
}

/** What becomes of a column's values: `hide` drops the column, `mask` shows only whether there is a value. */
export type ColumnRule = 'hide' | 'mask'

/** Settings of a dashboard. Give `connectionString` or `pool`. */
export interface DashboardOptions {
  /** Where the database is: `postgres://user:password@host:5432/database`. */
  readonly connectionString?: string | undefined
  /** Your own pool; it is never ended. */
  readonly pool?: PoolLike | undefined
  /**
   * The name of the only user, as the audit shows it; with `token`.
   * @defaultValue 'operator'
   */
  readonly user?: string | undefined
  /** What the only user signs in with: at least 16 characters. */
  readonly token?: string | undefined
  /**
   * Several users, each with a token.
   * @defaultValue []
   */
  readonly users?: readonly TokenUser[] | undefined
  /** Your own sign-in: who makes a request; null: nobody who may. It takes the place of tokens. */
  readonly authenticate?: ((request: Request) => DashboardUser | null | Promise<DashboardUser | null>) | undefined
  /**
   * Whether nobody may act. A database role with SELECT alone does the same, and can't be talked out of it.
   * @defaultValue false
   */
  readonly readOnly?: boolean | undefined
  /**
   * The path under which it is mounted.
   * @defaultValue '/'
   */
  readonly basePath?: string | undefined
  /**
   * Columns whose values stay in the database, by `schema.table` or `*` for every table: `{ '*': { email: 'mask' } }`.
   * @defaultValue {}
   */
  readonly columns?: Readonly<Record<string, Readonly<Record<string, ColumnRule>>>> | undefined
  /**
   * How long an action waits for a row that somebody else holds, in milliseconds.
   * @defaultValue 500
   */
  readonly lockTimeoutMs?: number | undefined
  /**
   * How often the figures are read anew while somebody looks, in milliseconds; less often if reading takes long.
   * @defaultValue 2000
   */
  readonly refreshIntervalMs?: number | undefined
  /**
   * Where log lines go, audited actions among them; a pino logger fits as it is.
   * @defaultValue none
   */
  readonly logger?: Logger | undefined
}

/** {@link DashboardOptions} with the defaults filled in. */
export interface ResolvedDashboardOptions {
  readonly connectionString: string | undefined
  readonly pool: PoolLike | undefined
  readonly users: readonly TokenUser[]
  readonly authenticate: DashboardOptions['authenticate']
  readonly readOnly: boolean
  /** Without a slash at the end; empty at the root. */
  readonly basePath: string
  readonly columns: Readonly<Record<string, Readonly<Record<string, ColumnRule>>>>
  readonly lockTimeoutMs: number
  readonly refreshIntervalMs: number
  readonly logger: Logger | undefined
}

const KNOWN: ReadonlySet<string> = new Set<keyof DashboardOptions>([
  'connectionString',
  'pool',
  'user',
  'token',
  'users',
  'authenticate',
  'readOnly',
  'basePath',
  'columns',
  'lockTimeoutMs',
  'refreshIntervalMs',
  'logger',
])

const SHORTEST_TOKEN = 16

/** @throws InvalidOptionError that names the option */
export function resolveDashboardOptions(owner: string, options: DashboardOptions): ResolvedDashboardOptions {
  const refuse = (option: string, problem: string): never => {
    throw new InvalidOptionError(owner, option, problem)
  }
  for (const option of Object.keys(options)) {
    if (!KNOWN.has(option)) refuse(option, `is unknown. There are: ${[...KNOWN].join(', ')}.`)
  }
  const { connectionString, pool, user, token, users = [], authenticate, logger, columns = {} } = options
  if ((connectionString === undefined) === (pool === undefined)) {
    refuse('connectionString', 'or pool must be given, and not both.')
  }
  if (user !== undefined && token === undefined) refuse('user', 'needs a token, by which the user signs in.')
  const all: readonly TokenUser[] = token === undefined ? users : [{ name: user ?? 'operator', token }, ...users]
  for (const one of all) {
    if (typeof one.name !== 'string' || one.name === '') refuse('users', 'must each have a name.')
    if (typeof one.token !== 'string' || one.token.length < SHORTEST_TOKEN) {
      refuse('token', `must have at least ${SHORTEST_TOKEN} characters: openssl rand -hex 16`)
    }
  }
  if (new Set(all.map(({ name }) => name)).size < all.length) refuse('users', 'must have different names.')
  if (authenticate !== undefined && all.length > 0)
    refuse('authenticate', 'takes the place of tokens; give one of the two.')
  for (const rule of Object.values(columns).flatMap((rules) => Object.values(rules))) {
    if (rule !== 'hide' && rule !== 'mask') refuse('columns', "must say 'hide' or 'mask' for each column.")
  }
  const duration = (option: 'lockTimeoutMs' | 'refreshIntervalMs', byDefault: number, min: number): number => {
    const value = options[option] ?? byDefault
    return Number.isFinite(value) && value >= min && value <= 600_000
      ? value
      : refuse(option, `must be a number of milliseconds from ${min} to 600000.`)
  }
  return Object.freeze({
    connectionString,
    pool,
    users: all,
    authenticate,
    readOnly: options.readOnly ?? false,
    basePath: resolveBasePath(options.basePath ?? '/', (problem) => refuse('basePath', problem)),
    columns,
    lockTimeoutMs: duration('lockTimeoutMs', 500, 1),
    refreshIntervalMs: duration('refreshIntervalMs', 2_000, 100),
    logger,
  })
}
