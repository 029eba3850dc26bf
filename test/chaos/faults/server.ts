import type { Fault } from './fault.js'
import type { FaultOutcome, Field } from './field.js'

type ServerFault = Extract<Fault, { kind: 'crash_server' | 'fail_over' }>

/** What happens to the server that everybody uses. */
export async function injectIntoServer({ servers }: Field, fault: ServerFault): Promise<FaultOutcome> {
  if (servers.busy) return 'skipped'
  if (fault.kind === 'crash_server') await servers.crash(fault.downMs)
  else await servers.failOver(fault.forgetMs)
  return 'done'
}
