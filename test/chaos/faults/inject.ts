import { injectIntoBackends } from './backends.js'
import type { Fault } from './fault.js'
import type { FaultOutcome, Field } from './field.js'
import { injectIntoNetwork } from './network.js'
import { injectIntoProcess } from './processes.js'
import { injectIntoServer } from './server.js'
import { takeConnections } from './take-connections.js'
import { injectTransaction } from './transactions.js'

/** Breaks what the fault says; resolves when it is over. */
export async function inject(field: Field, fault: Fault): Promise<FaultOutcome> {
  switch (fault.kind) {
    case 'kill_worker':
    case 'stop_worker':
    case 'shift_clock':
    case 'freeze_process':
    case 'block_event_loop':
      return injectIntoProcess(field, fault)
    case 'black_hole':
    case 'half_open':
    case 'hold_network':
    case 'delay_network':
    case 'refuse_connections':
    case 'reset_connections':
    case 'cut_statement':
      return injectIntoNetwork(field, fault)
    case 'terminate_backends':
    case 'terminate_listeners':
    case 'cancel_statements':
      return injectIntoBackends(field, fault)
    case 'pin_snapshot':
    case 'lock_rows':
    case 'alter_table':
    case 'refresh_functions':
      return injectTransaction(field, fault)
    case 'take_connections':
      return takeConnections(field, fault)
    case 'crash_server':
    case 'fail_over':
      return injectIntoServer(field, fault)
  }
}
