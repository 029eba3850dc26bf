import { setTimeout as delay } from 'node:timers/promises'
import type { HistoryWriter } from '../history.js'
import type { Random } from '../random.js'
import type { ChaosTask } from '../workers/chaos-task.js'
import type { LoadOptions } from '../workers/program-options.js'
import type { PrimaryPool } from './primary-pool.js'
import type { ChaosType } from './task-types.js'

/** What the habits of the load share. */
export interface Loader {
  readonly history: HistoryWriter
  readonly pool: PrimaryPool
  readonly random: Random
  readonly types: readonly ChaosType[]
  readonly tasks: ReadonlyMap<string, ChaosTask>
  readonly options: LoadOptions
  /** Tasks that are known to be there; a limited number of the newest. */
  readonly known: Array<{ readonly table: string; readonly id: string }>
  /** Aborted when the load ends. */
  readonly signal: AbortSignal
}

const MOST_KNOWN = 2_000

export function remember(loader: Loader, table: string, ids: readonly string[]): void {
  loader.known.push(...ids.map((id) => ({ table, id })))
  if (loader.known.length > MOST_KNOWN) loader.known.splice(0, loader.known.length - MOST_KNOWN)
}

/** Sleeps, though not beyond the end of the load. */
export async function pause(loader: Loader, ms: number): Promise<void> {
  await delay(ms, undefined, { signal: loader.signal }).catch(() => {})
}
