import type { ActiveRun } from './active-run.js'

/** Runs that wait for a slot, first in, first out; taking one costs the same however many there are. */
export class RunQueue {
  #runs: ActiveRun[] = []
  #head = 0

  get length(): number {
    return this.#runs.length - this.#head
  }

  push(run: ActiveRun): void {
    this.#runs.push(run)
  }

  shift(): ActiveRun | undefined {
    const run = this.#runs[this.#head]
    if (run !== undefined) this.#head += 1
    if (this.#head === this.#runs.length) this.clear()
    return run
  }

  remove(run: ActiveRun): void {
    for (const one of this.clear()) if (one !== run) this.push(one)
  }

  /** Empties it; returns what was in it. */
  clear(): ActiveRun[] {
    const runs = this.#runs.slice(this.#head)
    this.#runs = []
    this.#head = 0
    return runs
  }
}
