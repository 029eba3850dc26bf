import type { Labels, Metric, Sample } from './text-format.js'

interface Observed {
  readonly labels: Labels
  /** Values per bucket, not yet cumulated; the last one is for what is above all bounds. */
  readonly counts: number[]
  sum: number
}

/** How values spread over buckets, one spread per set of labels. */
export class Histogram {
  readonly #name: string
  readonly #help: string
  readonly #bounds: readonly number[]
  readonly #observed = new Map<string, Observed>()

  /** @param bounds - upper bounds of the buckets, ascending, in the metric's unit */
  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name
    this.#help = help
    this.#bounds = bounds
  }

  observe(labels: Labels, value: number): void {
    const key = JSON.stringify(labels)
    let observed = this.#observed.get(key)
    if (observed === undefined) {
      observed = { labels, counts: new Array<number>(this.#bounds.length + 1).fill(0), sum: 0 }
      this.#observed.set(key, observed)
    }
    const found = this.#bounds.findIndex((bound) => value <= bound)
    const bucket = found === -1 ? this.#bounds.length : found
    observed.counts[bucket] = (observed.counts[bucket] ?? 0) + 1
    observed.sum += value
  }

  get metric(): Metric {
    const samples = [...this.#observed.values()].flatMap((observed) => this.#samplesOf(observed))
    return { name: this.#name, type: 'histogram', help: this.#help, samples }
  }

  #samplesOf({ labels, counts, sum }: Observed): Sample[] {
    let total = 0
    const buckets = counts.map((count, index) => {
      total += count
      const bound = this.#bounds[index]
      return {
        suffix: '_bucket',
        labels: { ...labels, le: bound === undefined ? '+Inf' : String(bound) },
        value: total,
      }
    })
    return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: total }]
  }
}
