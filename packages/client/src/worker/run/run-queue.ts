import type { ActiveRun } from './active-run.js'

/** So many places of runs that were taken are kept at most, or as many as wait. */
const MOST_EMPTY = 1_000

/** Runs that wait for a slot, first in, first out; taking one costs the same however many there are. */
export class RunQueue {
  #runs: Array<ActiveRun | undefined> = []
  #head = 0

  get length(): number {
    return this.#runs.length - this.#head
  }

  push(run: ActiveRun): void {
    this.#runs.push(run)
  }

  shift(): ActiveRun | undefined {
    const run = this.#runs[this.#head]
    if (run === undefined) return undefined
    // Through a backlog it may never be empty: what was taken must go without that.
    this.#runs[this.#head] = undefined
    this.#head += 1
    if (this.length === 0 || (this.#head > MOST_EMPTY && this.#head > this.length)) this.#dropEmpty()
    return run
  }

  remove(run: ActiveRun): void {
    for (const one of this.clear()) if (one !== run) this.push(one)
  }

  /** Empties it; returns what was in it. */
  clear(): ActiveRun[] {
    this.#dropEmpty()
    const runs = this.#runs as ActiveRun[]
    this.#runs = []
    return runs
  }

  #dropEmpty(): void {
    this.#runs = this.#runs.slice(this.#head)
    this.#head = 0
  }
}
