import type { Client } from 'pg'
import type { Fault } from './fault.js'
import { type FaultOutcome, type Field, last } from './field.js'

type TransactionFault = Extract<Fault, { kind: 'pin_snapshot' | 'lock_rows' | 'alter_table' | 'refresh_functions' }>

/** What somebody else's transaction does. */
export async function injectTransaction(field: Field, fault: TransactionFault): Promise<FaultOutcome> {
  try {
    await field.servers.ask((client) => run(field, client, fault))
    return 'done'
  } catch {
    // The server went away meanwhile, or a lock was not to be had.
    return 'skipped'
  }
}

async function run(field: Field, client: Client, fault: TransactionFault): Promise<void> {
  // Others wait behind whoever waits for a table.
  await client.query('set lock_timeout = 1000')
  await client.query(fault.kind === 'pin_snapshot' ? 'begin isolation level repeatable read' : 'begin')
  switch (fault.kind) {
    case 'pin_snapshot':
      await client.query('select count(*) from chaos.transitions')
      return last(field, fault.forMs)
    case 'lock_rows':
      await client.query(
        `select from chaos.${fault.table} where finished_at is null and failed_at is null and not canceled
         order by id desc limit $1 for update skip locked`,
        [fault.rows],
      )
      return last(field, fault.forMs)
    case 'alter_table':
      await client.query(`alter table chaos.${fault.table} add column if not exists further integer`)
      await last(field, fault.forMs)
      await client.query('commit')
      await client.query(`alter table chaos.${fault.table} drop column further`)
      return
    case 'refresh_functions':
      // Whatever their text says today is made anew.
      await client.query("update tasks.types set source_hash = null where schema_name = 'chaos'")
      await client.query('select tasks.refresh_all()')
      await client.query('commit')
  }
}
