import type { Run } from './finish-many.js'

/** Ids of runs as an array parameter. Nothing in them needs quotes, and the driver would search each for what does. */
export function idsOf(runs: readonly Run[]): string {
  return idArray(runs.map((run) => run.id))
}

/** The same, of ids alone. */
export function idArray(ids: readonly string[]): string {
  return `{${ids.join(',')}}`
}

/** Their tokens, in the same order. */
export function tokensOf(runs: readonly Run[]): string {
  return `{${runs.map((run) => run.token).join(',')}}`
}
