const UNITS = [
  ['days', 86_400_000],
  ['hours', 3_600_000],
  ['minutes', 60_000],
] as const

/** A duration in one unit, for a sentence. */
export function inWords(ms: number): string {
  for (const [name, size] of UNITS) if (ms >= 2 * size) return `${Math.floor(ms / size)} ${name}`
  return `${Math.round(ms / 1000)} seconds`
}
