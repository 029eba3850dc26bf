import { randomUUID } from 'node:crypto'
import type { Queryable } from '../connection.js'
import { quoteIdentifier } from '../quote-identifier.js'
import { type CheckResult, checkResult, type Finding } from './finding.js'

/** A session that tells of notifications, as a pg Client does. */
export interface NotifiedSession extends Queryable {
  on(event: 'notification', listener: (message: { readonly channel: string }) => void): unknown
  removeListener(event: 'notification', listener: (message: { readonly channel: string }) => void): unknown
}

/**
 * Sends a notification from one session to another, on a channel of its own: whether LISTEN is allowed, and what is notified
 * arrives.
 *
 * @param timeoutMs - how long to wait for it, in milliseconds
 */
export async function probeListening(
  listening: NotifiedSession,
  sending: Queryable,
  timeoutMs = 3_000,
): Promise<CheckResult> {
  const channel = `pg_tasks_doctor_${randomUUID().replaceAll('-', '')}`
  const begun = performance.now()
  let arrive: () => void = () => {}
  const arrived = new Promise<true>((resolve) => {
    arrive = () => resolve(true)
  })
  const listener = (message: { readonly channel: string }): void => {
    if (message.channel === channel) arrive()
  }
  listening.on('notification', listener)
  let timer: NodeJS.Timeout | undefined
  try {
    await listening.query(`listen ${quoteIdentifier(channel)}`)
    await sending.query('select pg_notify($1, $2)', [channel, ''])
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), timeoutMs)
    })
    const delivered = await Promise.race([arrived, late])
    await listening.query(`unlisten ${quoteIdentifier(channel)}`)
    return result(delivered ? undefined : notDelivered(timeoutMs, performance.now() - begun))
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string }
    if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) throw error
    return result(refused(code, message))
  } finally {
    clearTimeout(timer)
    listening.removeListener('notification', listener)
  }
}

function result(finding: Finding | undefined): CheckResult {
  return checkResult('listen', 'Notifications', finding === undefined ? [] : [finding])
}

function notDelivered(timeoutMs: number, afterMs: number): Finding {
  return {
    code: 'not_delivered',
    severity: 'critical',
    subject: null,
    problem: `A notification did not arrive within ${timeoutMs} ms: tasks are found by polling only.`,
    remedy:
      'Look for a pooler, or a proxy, between here and the server; give workers a direct URL (listenerConnectionString).',
    details: { afterMs, timeoutMs },
  }
}

function refused(code: string, message: string): Finding {
  return {
    code: 'listen_refused',
    severity: 'critical',
    subject: null,
    problem: `LISTEN or NOTIFY was refused: ${message}.`,
    remedy:
      code === '25006'
        ? 'This is a standby: connect to the primary.'
        : 'See the message; without LISTEN tasks are found by polling only.',
    details: { code, message },
  }
}
