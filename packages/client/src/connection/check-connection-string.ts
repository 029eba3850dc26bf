import { named } from '../options/named.js'

const SCHEME = /^(postgres|postgresql|socket):\/\//i
const SOCKET_PATH = /^\/[^=]*$/
const SSL_PARAMETERS = ['ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert'] as const

const ENCODE = 'Percent-encode the characters of user and password with encodeURIComponent().'

/**
 * Says what is wrong with a connection string, or nothing.
 *
 * node-postgres takes almost any text: `host=/tmp dbname=x` becomes a host called "base", and a password with `#` or `/` sends
 * the client to another server. Never quotes the text, because it holds a password.
 */
export function connectionStringProblem(given: unknown): string | undefined {
  if (given === undefined) return 'is undefined: is the environment variable set that it is taken from?'
  if (typeof given !== 'string')
    return `must be a URL such as postgres://user:password@host/database, not ${named(given)}.`
  if (given.trim() === '') return 'is empty: is the environment variable set that it is taken from?'
  if (SOCKET_PATH.test(given)) return undefined
  if (!SCHEME.test(given)) return notAUrl(given)
  return urlProblem(given)
}

function notAUrl(given: string): string {
  if (/^\s*\w+\s*=/.test(given)) {
    return (
      'has the form "key=value …", which node-postgres does not read. Write a URL: ' +
      'postgres://user:password@host:5432/database, or postgres:///database?host=/tmp for a Unix socket.'
    )
  }
  return 'must begin with postgres:// or postgresql://.'
}

function urlProblem(given: string): string | undefined {
  const url = parsed(given)
  if (url === undefined) return `is not a valid URL. ${ENCODE}`
  // A raw # or / or ? in the password ends the host part: what follows it would be lost, and a wrong server asked.
  if (url.hash !== '') return `has a "#" in it. ${ENCODE}`
  const keys = [...url.searchParams.keys()]
  if (url.username === '' && (url.pathname.includes('@') || keys.some((key) => key.includes('@')))) {
    return `has an "@" after its host. ${ENCODE}`
  }
  try {
    for (const part of [url.username, url.password, url.pathname]) decodeURIComponent(part)
  } catch {
    return `has a "%" that encodes nothing. ${ENCODE}`
  }
  return undefined
}

/** The part of the URL that names the server, without user and password. */
export function connectionStringAddress(given: string): string {
  if (SOCKET_PATH.test(given)) return given.split(' ')[0] ?? given
  const url = parsed(given)
  if (url === undefined) return 'the database'
  const host = url.searchParams.get('host') || decodeURIComponent(url.hostname) || 'localhost'
  const port = url.searchParams.get('port') || url.port || '5432'
  return host.startsWith('/') ? host : `${host}:${port}`
}

/** Whether the URL decides about encryption, which makes node-postgres ignore its `ssl` setting. */
export function connectionStringSetsSsl(given: string): boolean {
  const parameters = parsed(given)?.searchParams
  return parameters !== undefined && SSL_PARAMETERS.some((name) => parameters.has(name))
}

/** `postgres://user@/db` has no host, which a URL doesn't allow; node-postgres does. */
function parsed(given: string): URL | undefined {
  for (const text of [given, given.replace('@/', '@localhost/')]) {
    try {
      return new URL(text)
    } catch {
      // The error is not passed on: it quotes the text.
    }
  }
  return undefined
}
