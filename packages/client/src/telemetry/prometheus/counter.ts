import type { Labels, Metric } from './text-format.js'

/** Numbers that only grow, one per set of labels. */
export class Counter {
  readonly #name: string
  readonly #help: string
  readonly #values = new Map<string, { readonly labels: Labels; value: number }>()

  constructor(name: string, help: string) {
    this.#name = name
    this.#help = help
  }

  add(labels: Labels, value = 1): void {
    const key = JSON.stringify(labels)
    const present = this.#values.get(key)
    if (present === undefined) this.#values.set(key, { labels, value })
    else present.value += value
  }

  get metric(): Metric {
    return { name: this.#name, type: 'counter', help: this.#help, samples: [...this.#values.values()] }
  }
}
