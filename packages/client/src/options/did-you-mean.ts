/** The name nearest to what was written, if it is near enough to be what was meant. */
export function didYouMean(written: string, names: readonly string[]): string | undefined {
  let nearest: string | undefined
  // Two letters that changed places are two edits.
  let fewest = Math.max(written.length < 4 ? 1 : 2, Math.floor(written.length / 3)) + 1
  for (const name of names) {
    const edits = distance(written.toLowerCase(), name.toLowerCase())
    if (edits < fewest) {
      nearest = name
      fewest = edits
    }
  }
  return nearest
}

/** Levenshtein's distance, one row at a time. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      const substituted = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1)
      next.push(Math.min(substituted, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
