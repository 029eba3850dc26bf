import { setTimeout as delay } from 'node:timers/promises'
import type { Remains } from '../checker/evidence.js'
import { monotonicMs } from '../history.js'
import type { ChaosType } from '../load/task-types.js'
import type { Servers } from './servers.js'

const LOOK_MS = 250

export interface Drained {
  readonly afterMs: number
  readonly unfinished: Remains['unfinished']
}

/** Waits until all tasks have ended, or nothing has moved for so long. */
export async function drain(servers: Servers, types: readonly ChaosType[], standstillMs: number): Promise<Drained> {
  const startedAt = monotonicMs()
  let lastMove = startedAt
  let moved = ''
  for (;;) {
    const { unfinished, move } = await look(servers, types)
    const now = monotonicMs()
    if (unfinished.length === 0) return { afterMs: now - startedAt, unfinished }
    if (move !== moved) {
      moved = move
      lastMove = now
    } else if (now - lastMove > standstillMs) {
      return { afterMs: now - startedAt, unfinished }
    }
    await delay(LOOK_MS)
  }
}

async function look(servers: Servers, types: readonly ChaosType[]) {
  return servers.ask(async (client) => {
    const open = types.map(
      ({
        table,
      }) => `select '${table}' as "table", t.id::text, chaos.coarse_state(t.started_at, t.finished_at, t.failed_at, t.canceled) as state
        from chaos.${table} t where t.finished_at is null and t.failed_at is null and not t.canceled`,
    )
    const { rows } = await client.query<Remains['unfinished'][number]>(open.join(' union all '))
    const moves = await client.query<{ move: string }>(
      'select coalesce(max(id), 0)::text as move from chaos.transitions',
    )
    return { unfinished: rows, move: moves.rows[0]?.move ?? '' }
  })
}
