import type { GoneReason } from '@pg-tasks/sql'
import type { LeaseLostReason } from '../../errors/lease-lost-error.js'

const REASONS: Partial<Record<GoneReason, LeaseLostReason>> = {
  canceled: 'canceled',
  reset: 'reset',
  missing: 'gone',
  finished: 'finished',
  failed: 'taken_over',
}

/** What a handler is told of a run that the database says is gone. */
export function lostReason(reason: GoneReason): LeaseLostReason {
  return REASONS[reason] ?? 'taken_over'
}
