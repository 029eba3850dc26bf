import { type HistoryEvent, isEvent } from '../history.js'
import type { Evidence, Violation } from './evidence.js'

/** What a heap may grow by, in megabytes, whatever its size: caches that fill. */
const ALLOWED_MB = 15

/** Fewer samples than this say nothing. */
const FEWEST = 12

/** The heap of the worker that is never ended, after collections. */
export function heapStaysFlat({ events }: Evidence): Violation[] {
  const heap = watchedHeap(events)
  if (heap.length < FEWEST) return []
  const quarter = Math.floor(heap.length / 4)
  // The first samples are taken while code is still being loaded.
  const early = median(heap.slice(quarter, 2 * quarter))
  const late = median(heap.slice(-quarter))
  if (late <= early + ALLOWED_MB) return []
  return [{ check: 'the heap stays flat', message: `from ${early} to ${late} MB after collections` }]
}

/** Megabytes in use, sample by sample, of the process that lived longest. */
export function watchedHeap(events: readonly HistoryEvent[]): number[] {
  const samples = new Map<string, number[]>()
  for (const event of events) {
    if (!isEvent(event, 'memory') || event.process === 'load') continue
    samples.set(event.process, [...(samples.get(event.process) ?? []), event.heapMb])
  }
  return [...samples.values()].sort((a, b) => b.length - a.length)[0] ?? []
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
