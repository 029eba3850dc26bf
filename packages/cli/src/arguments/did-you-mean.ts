/** The name that begins as what was written does, or differs from it by a letter or two. */
export function didYouMean(written: string, names: readonly string[]): string | undefined {
  const near = names.map((name) => ({ name, edits: distance(written, name) })).sort((a, b) => a.edits - b.edits)
  const [nearest] = near
  if (nearest === undefined) return undefined
  return nearest.edits <= (written.length < 4 ? 1 : Math.max(2, Math.floor(written.length / 3)))
    ? nearest.name
    : undefined
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j += 1) {
      next.push(Math.min((row[j] ?? 0) + (a[i] === b[j] ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
