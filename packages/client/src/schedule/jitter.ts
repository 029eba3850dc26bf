import { createHash } from 'node:crypto'

/**
 * By how many milliseconds the task of an occurrence is put off: a whole number from 0 up to, not including, `jitterMs`.
 *
 * Many schedules of one minute so don't start together. It is a hash, not a random number: whoever plans the occurrence
 * again finds the same delay. Only `planned_to` of the task moves; the occurrence keeps its nominal instant.
 */
export function jitter(scheduleKey: string, occurrenceAt: Date, jitterMs: number): number {
  if (!(jitterMs >= 1)) return 0
  const digest = createHash('sha256').update(`${occurrenceAt.toISOString()} ${scheduleKey}`).digest()
  return digest.readUIntBE(0, 6) % Math.floor(jitterMs)
}
