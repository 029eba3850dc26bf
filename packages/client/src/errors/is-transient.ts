import type { ErrorCode } from './error-codes.js'
import { PgTasksError } from './pg-tasks-error.js'

/** SQLSTATEs and classes after which the session is gone. 08: connection; 57P0x: shutdown, crash, starting up, idle session. */
const CONNECTION_STATES = /^(08...|57P0[1235])$/

/**
 * SQLSTATEs after which the same call may succeed. 53: resources; 40: serialization, deadlock, unknown outcome; 25006: read-only
 * server, a failover is under way; 25P03, 25P04: the transaction was too long idle or too long; 55006, 55P03: locked;
 * 57014: canceled by a timeout or an operator; 58: the server's disk.
 */
const TRANSIENT_STATES =
  /^(08...|53...|58...|40001|40P01|40003|25006|25P0[34]|55006|55P03|57014|TQ006|TQ008|TQ013|57P0[1235])$/

const NETWORK_CODES = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENETRESET',
  'EADDRNOTAVAIL',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
  'ERR_SSL_WRONG_VERSION_NUMBER',
])

const TRANSIENT_CODES = new Set<ErrorCode>(['READ_ONLY_SERVER', 'CHANGED_MEANWHILE', 'TABLE_IN_USE', 'TASK_IN_USE'])

/** node-postgres, pg-pool and pg-listen say these in words only. */
const CONNECTION_MESSAGE =
  /^Connection (terminated|ended)|^timeout expired$|^timeout exceeded when trying to connect|^Query read timeout$|is not queryable$|^socket hang up|socket disconnected before secure TLS/

/**
 * Whether the connection is gone or couldn't be made: it must be thrown away, and another one may succeed.
 */
export function isConnectionLost(error: unknown): boolean {
  return anyInChain(error, lostConnection)
}

/**
 * Whether the same call may succeed later without anybody changing it: a lost connection, a deadlock, a lock or statement
 * timeout, a server that is starting, full or a standby. Looks at causes and at what an `AggregateError` holds.
 */
export function isTransient(error: unknown): boolean {
  return anyInChain(
    error,
    (one) => lostConnection(one) || TRANSIENT_STATES.test(text(one, 'code')) || transientOfOurs(one),
  )
}

/** Whether the server can't be written to: it is a standby, or became one. */
export function isReadOnly(error: unknown): boolean {
  return anyInChain(error, (one) => text(one, 'code') === '25006' || text(one, 'code') === 'READ_ONLY_SERVER')
}

function lostConnection(error: object): boolean {
  const code = text(error, 'code')
  if (CONNECTION_STATES.test(code) || NETWORK_CODES.has(code)) return true
  // A Unix socket's file is missing while the server is down.
  if (code === 'ENOENT' && text(error, 'syscall') === 'connect') return true
  if (code === 'CONNECTION_LOST' && error instanceof PgTasksError) return true
  return CONNECTION_MESSAGE.test(text(error, 'message'))
}

function transientOfOurs(error: object): boolean {
  return error instanceof PgTasksError && TRANSIENT_CODES.has(error.code)
}

function anyInChain(error: unknown, test: (one: object) => boolean, seen: Set<unknown> = new Set()): boolean {
  if (typeof error !== 'object' || error === null || seen.has(error)) return false
  seen.add(error)
  if (test(error)) return true
  const { cause, errors } = error as { cause?: unknown; errors?: unknown }
  if (anyInChain(cause, test, seen)) return true
  return Array.isArray(errors) && errors.some((one) => anyInChain(one, test, seen))
}

function text(error: object, property: string): string {
  const value: unknown = (error as Record<string, unknown>)[property]
  return typeof value === 'string' ? value : ''
}
