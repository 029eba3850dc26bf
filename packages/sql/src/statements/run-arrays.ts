import type { Run } from './finish-many.js'

/** Ids of runs as an array parameter. Nothing in them needs quotes, and the driver would search each for what does. */
export function idsOf(runs: readonly Run[]): string {
  return `{${runs.map((run) => run.id).join(',')}}`
}

/** Their tokens, in the same order. */
export function tokensOf(runs: readonly Run[]): string {
  return `{${runs.map((run) => run.token).join(',')}}`
}
