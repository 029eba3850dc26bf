/** Most runs in one statement. */
const MOST_AT_ONCE = 1_000

/**
 * Takes the first entries off a queue, no two of one task. Two runs of a task may wait here at once, if the first gave it back
 * before it ended; the database answers by id, and one's answer must not pass for the other's.
 */
export function takeBatch<Entry>(queue: Entry[], idOf: (entry: Entry) => string): Entry[] {
  const batch = new Map<string, Entry>()
  const left: Entry[] = []
  for (const entry of queue) {
    if (batch.size < MOST_AT_ONCE && !batch.has(idOf(entry))) batch.set(idOf(entry), entry)
    else left.push(entry)
  }
  queue.splice(0, queue.length, ...left)
  return [...batch.values()]
}
