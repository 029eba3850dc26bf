import type { Fault } from './fault.js'
import { type FaultOutcome, type Field, last } from './field.js'

type TransactionFault = Extract<Fault, { kind: 'pin_snapshot' | 'lock_rows' }>

/** What somebody else's open transaction does. */
export async function injectTransaction(field: Field, fault: TransactionFault): Promise<FaultOutcome> {
  try {
    await field.servers.ask(async (client) => {
      if (fault.kind === 'pin_snapshot') {
        await client.query('begin isolation level repeatable read')
        await client.query('select count(*) from chaos.transitions')
      } else {
        await client.query('begin')
        await client.query(
          `select from chaos.${fault.table} where finished_at is null and failed_at is null and not canceled
           order by id desc limit $1 for update skip locked`,
          [fault.rows],
        )
      }
      await last(field, fault.forMs)
      await client.query('rollback')
    })
    return 'done'
  } catch {
    // The server went away meanwhile.
    return 'skipped'
  }
}
