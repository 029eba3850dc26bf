import type { Slot } from '../session/slot.js'
import type { Fault } from './fault.js'
import { type FaultOutcome, type Field, last } from './field.js'

type ProcessFault = Extract<
  Fault,
  { kind: 'kill_worker' | 'stop_worker' | 'shift_clock' | 'freeze_worker' | 'block_event_loop' }
>

/** What happens to a worker's process. */
export async function injectIntoProcess(field: Field, fault: ProcessFault): Promise<FaultOutcome> {
  const slot = field.slots[fault.slot] as Slot
  if (!slot.alive) return 'skipped'
  switch (fault.kind) {
    case 'kill_worker':
      slot.kill()
      return 'done'
    case 'stop_worker':
      slot.stop()
      return 'done'
    case 'shift_clock':
      slot.stop(fault.byMs)
      return 'done'
    case 'freeze_worker':
      await slot.freeze(last(field, fault.forMs))
      return 'done'
    case 'block_event_loop':
      slot.block(fault.forMs)
      await last(field, fault.forMs)
      return 'done'
  }
}
