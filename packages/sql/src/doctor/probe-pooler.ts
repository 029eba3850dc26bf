import type { Queryable } from '../connection.js'
import { type CheckResult, checkResult, type Finding } from './finding.js'

/**
 * Tells whether there is a pooler in transaction or statement mode before the server. Such a pooler gives a server session that
 * is idle to the next client: the second then gets the first's, and the first another one.
 *
 * @param first - a session of its own, idle
 * @param second - another one
 */
export async function probePooler(first: Queryable, second: Queryable): Promise<CheckResult> {
  const before = await backendOf(first)
  await second.query('begin')
  try {
    const other = await backendOf(second)
    const after = await backendOf(first)
    const pooled = before === other || before !== after
    return checkResult('pooler', 'Pooler', pooled ? [POOLED] : [])
  } finally {
    await second.query('rollback')
  }
}

const POOLED: Finding = {
  code: 'pooler',
  severity: 'warning',
  subject: null,
  problem:
    'A pooler in transaction mode stands before the server: notifications never arrive through it, nor do locks of a session hold.',
  remedy:
    "Give workers a direct URL for their own connections: new Worker({ …, listenerConnectionString }), or the pooler's session mode.",
  details: { pooled: true },
}

async function backendOf(session: Queryable): Promise<number> {
  const { rows } = await session.query('select pg_backend_pid() as pid')
  return (rows[0] as { pid: number }).pid
}
