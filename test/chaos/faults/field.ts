import { setTimeout as delay } from 'node:timers/promises'
import type { WorkerProcess } from '../../support/worker-process.js'
import type { Network } from '../session/network.js'
import type { Servers } from '../session/servers.js'
import type { Slot } from '../session/slot.js'

/** Where faults happen. */
export interface Field {
  readonly servers: Servers
  readonly slots: readonly Slot[]
  /** The slots' networks, and behind them that of the load. */
  readonly networks: readonly Network[]
  readonly load: WorkerProcess
  /** Aborted when the last fault must end. */
  readonly signal: AbortSignal
}

/** What became of a fault: some come when they can't do anything. */
export type FaultOutcome = 'done' | 'skipped'

/** Lasts so long, though not beyond the end of all faults. */
export async function last(field: Field, forMs: number): Promise<void> {
  await delay(forMs, undefined, { signal: field.signal }).catch(() => {})
}
