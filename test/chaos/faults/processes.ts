import type { Fault } from './fault.js'
import { type FaultOutcome, type Field, last } from './field.js'

type ProcessFault = Extract<
  Fault,
  { kind: 'kill_worker' | 'stop_worker' | 'shift_clock' | 'freeze_process' | 'block_event_loop' }
>

/** What happens to a worker's process. */
export async function injectIntoProcess(field: Field, fault: ProcessFault): Promise<FaultOutcome> {
  const slot = field.slots[fault.slot]
  if (slot === undefined) return freezeLoad(field, fault)
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
    case 'freeze_process':
      await slot.freeze(last(field, fault.forMs))
      return 'done'
    case 'block_event_loop':
      if (!slot.block(fault.forMs)) return 'skipped'
      await last(field, fault.forMs)
      return 'done'
  }
}

async function freezeLoad(field: Field, fault: ProcessFault): Promise<FaultOutcome> {
  if (fault.kind !== 'freeze_process') return 'skipped'
  field.load.signal('SIGSTOP')
  await last(field, fault.forMs)
  field.load.signal('SIGCONT')
  return 'done'
}
