import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { HistoryWriter } from '../history.js'

const EVERY_MS = 5_000

/** Notes now and then what is left in memory after a collection; returns the way to end that. */
export function watchHeap(history: HistoryWriter): () => void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const note = (): void => {
    collect()
    const { heapUsed, rss } = process.memoryUsage()
    history.write('memory', { heapMb: megabytes(heapUsed), rssMb: megabytes(rss) })
  }
  const timer = setInterval(note, EVERY_MS).unref()
  return () => clearInterval(timer)
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 104_857.6) / 10
}
