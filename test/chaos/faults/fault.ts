/** What is broken on purpose, with all that was drawn for it. `slot` is a worker's place, which restarts keep; the last one is the load's. */
export type Fault =
  | { readonly kind: 'kill_worker'; readonly slot: number }
  | { readonly kind: 'stop_worker'; readonly slot: number }
  | { readonly kind: 'shift_clock'; readonly slot: number; readonly byMs: number }
  | { readonly kind: 'freeze_process'; readonly slot: number; readonly forMs: number }
  | { readonly kind: 'block_event_loop'; readonly slot: number; readonly forMs: number }
  | { readonly kind: 'crash_server'; readonly downMs: number }
  | { readonly kind: 'fail_over'; readonly forgetMs: number }
  | { readonly kind: 'terminate_backends'; readonly share: number; readonly salt: string }
  | { readonly kind: 'terminate_listeners'; readonly share: number; readonly salt: string }
  | { readonly kind: 'black_hole'; readonly slot: number; readonly forMs: number }
  | { readonly kind: 'half_open'; readonly slot: number; readonly forMs: number }
  | { readonly kind: 'hold_network'; readonly slot: number; readonly forMs: number }
  | { readonly kind: 'delay_network'; readonly slot: number; readonly byMs: number; readonly forMs: number }
  | { readonly kind: 'refuse_connections'; readonly slot: number; readonly forMs: number }
  | { readonly kind: 'reset_connections'; readonly slot: number }
  | { readonly kind: 'cut_statement'; readonly slot: number; readonly statement: string; readonly delivered: boolean }
  | { readonly kind: 'cancel_statements'; readonly share: number; readonly salt: string }
  | { readonly kind: 'take_connections'; readonly forMs: number }
  | { readonly kind: 'alter_table'; readonly table: string; readonly forMs: number }
  | { readonly kind: 'refresh_functions' }
  | { readonly kind: 'pin_snapshot'; readonly forMs: number }
  | { readonly kind: 'lock_rows'; readonly table: string; readonly rows: number; readonly forMs: number }

export type FaultKind = Fault['kind']

/** A fault and when it begins, in milliseconds from the start. */
export interface PlannedFault {
  readonly atMs: number
  readonly fault: Fault
}
