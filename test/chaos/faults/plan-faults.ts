import type { Random } from '../random.js'
import type { Fault, FaultKind, PlannedFault } from './fault.js'

/** What the plan depends on; nothing else, so that a seed says it all. */
export interface PlanOptions {
  readonly durationMs: number
  /** How many workers there are. The first one is never ended: its memory is watched. */
  readonly workers: number
  /** Tables whose rows may be locked. */
  readonly tables: readonly string[]
  /** How often each kind is drawn, beside the others. */
  readonly weights: Readonly<Partial<Record<FaultKind, number>>>
  /** @defaultValue 1200 */
  readonly meanGapMs?: number
  /** What the statements that are cut contain. @defaultValue some of everything */
  readonly statements?: readonly string[]
}

/** Everything at once; the rare ones are those that take long to mend. */
export const ALL_FAULTS: Readonly<Record<FaultKind, number>> = {
  kill_worker: 10,
  stop_worker: 4,
  shift_clock: 2,
  freeze_process: 6,
  block_event_loop: 6,
  crash_server: 4,
  fail_over: 4,
  terminate_backends: 8,
  terminate_listeners: 4,
  black_hole: 4,
  half_open: 3,
  hold_network: 4,
  delay_network: 4,
  refuse_connections: 3,
  reset_connections: 6,
  cut_statement: 16,
  cancel_statements: 4,
  take_connections: 3,
  alter_table: 4,
  refresh_functions: 2,
  pin_snapshot: 3,
  lock_rows: 6,
}

/** Storms, and between them calms in which everything must run as if nothing had been. */
const STORM_MS = 30_000
const CALM_MS = 20_000

/** A failover leaves one server, until the other is made anew. */
const BETWEEN_FAILOVERS_MS = 30_000

/** What a statement contains: the cut comes when it passes by. */
const STATEMENTS = [
  'commit',
  'commit',
  'commit',
  'finish_many',
  'acquire_',
  'heartbeat_',
  'insert into',
  'retry_',
  'step',
]

/** Draws all faults of a run. */
export function planFaults(random: Random, options: PlanOptions): PlannedFault[] {
  const { durationMs, meanGapMs = 1_200, weights } = options
  const planned: PlannedFault[] = []
  let lastFailoverMs = 0
  for (let atMs = random.gap(meanGapMs); ; atMs += random.gap(meanGapMs)) {
    if (atMs % (STORM_MS + CALM_MS) > STORM_MS) atMs = Math.ceil(atMs / (STORM_MS + CALM_MS)) * (STORM_MS + CALM_MS)
    if (atMs >= durationMs) return planned
    const fault = draw(random, random.weighted(weights), options)
    if (fault.kind === 'fail_over') {
      if (atMs < lastFailoverMs + BETWEEN_FAILOVERS_MS) continue
      lastFailoverMs = atMs
    }
    planned.push({ atMs: Math.round(atMs), fault })
  }
}

function draw(random: Random, kind: FaultKind, { workers, tables, statements = STATEMENTS }: PlanOptions): Fault {
  const slot = random.integer(0, workers - 1)
  /** Behind the workers' places comes that of the load, which is never ended. */
  const place = random.integer(0, workers)
  const mortal = workers === 1 ? 0 : random.integer(1, workers - 1)
  const salt = String(random.integer(0, 1e9))
  switch (kind) {
    case 'kill_worker':
    case 'stop_worker':
      return { kind, slot: mortal }
    case 'shift_clock':
      return { kind, slot: mortal, byMs: random.pick([-86_400_000, -3_600_000, -5_000, 5_000, 3_600_000, 86_400_000]) }
    case 'freeze_process':
      return { kind, slot: place, forMs: random.integer(200, 9_000) }
    case 'block_event_loop':
      return { kind, slot, forMs: random.integer(500, 7_000) }
    case 'crash_server':
      return { kind, downMs: random.integer(0, 3_000) }
    case 'fail_over':
      // Synchronous mostly: then nothing is lost.
      return { kind, forgetMs: random.chance(0.35) ? random.integer(50, 1_000) : 0 }
    case 'terminate_backends':
      return { kind, share: random.pick([0.1, 0.3, 1]), salt }
    case 'terminate_listeners':
    case 'cancel_statements':
      return { kind, share: random.pick([0.5, 1]), salt }
    case 'take_connections':
      return { kind, forMs: random.integer(500, 6_000) }
    case 'alter_table':
      return { kind, table: random.pick(tables), forMs: random.integer(0, 1_500) }
    case 'refresh_functions':
      return { kind }
    case 'black_hole':
    case 'hold_network':
    case 'refuse_connections':
      return { kind, slot: place, forMs: random.integer(300, 12_000) }
    case 'half_open':
      return { kind, slot: place, forMs: random.integer(3_000, 15_000) }
    case 'delay_network':
      return { kind, slot: place, byMs: random.integer(20, 2_500), forMs: random.integer(1_000, 8_000) }
    case 'reset_connections':
      return { kind, slot: place }
    case 'cut_statement':
      return { kind, slot: place, statement: random.pick(statements), delivered: random.chance(0.7) }
    case 'pin_snapshot':
      return { kind, forMs: random.integer(3_000, 20_000) }
    case 'lock_rows':
      return { kind, table: random.pick(tables), rows: random.integer(1, 20), forMs: random.integer(200, 4_000) }
  }
}
