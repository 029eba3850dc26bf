import type { Network } from '../session/network.js'
import { toSessions } from './backends.js'
import type { Fault } from './fault.js'
import { type FaultOutcome, type Field, last } from './field.js'

type NetworkFault = Extract<
  Fault,
  {
    kind:
      | 'black_hole'
      | 'half_open'
      | 'hold_network'
      | 'delay_network'
      | 'refuse_connections'
      | 'reset_connections'
      | 'cut_statement'
  }
>

/** How long a cut waits for its statement. */
const LONGEST_CUT_MS = 5_000

/** What happens to the way of one process to the servers. */
export async function injectIntoNetwork(field: Field, fault: NetworkFault): Promise<FaultOutcome> {
  const network = field.networks[fault.slot] as Network
  if (network.broken) return 'skipped'
  switch (fault.kind) {
    case 'black_hole':
      await network.breakUntil((proxy) => proxy.blackhole(), last(field, fault.forMs))
      return 'done'
    case 'half_open':
      // The servers end the sessions; the process isn't told.
      await network.breakUntil((proxy) => proxy.blackhole(), endSessions(field, fault))
      return 'done'
    case 'hold_network':
      await network.breakUntil((proxy) => proxy.hold(), last(field, fault.forMs))
      return 'done'
    case 'delay_network':
      await network.breakUntil((proxy) => proxy.delay(fault.byMs), last(field, fault.forMs))
      return 'done'
    case 'refuse_connections':
      await network.breakUntil((proxy) => proxy.down(), last(field, fault.forMs))
      return 'done'
    case 'reset_connections':
      network.cut()
      return 'done'
    case 'cut_statement':
      return (await network.cutStatement(fault.statement, fault.delivered, last(field, LONGEST_CUT_MS)))
        ? 'done'
        : 'skipped'
  }
}

async function endSessions(
  field: Field,
  { slot, forMs }: { readonly slot: number; readonly forMs: number },
): Promise<void> {
  const ended = last(field, forMs)
  const name = field.slots[slot]?.applicationName ?? 'load'
  await toSessions(field, 'pg_terminate_backend', 'starts_with(application_name, $1)', [name])
  await ended
}
