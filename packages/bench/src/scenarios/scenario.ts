import type { Bench, Measured } from '../bench.js'

/** One question that the benchmark answers. */
export interface Scenario {
  readonly name: string
  readonly title: string
  /** What is done and how it is measured, in a sentence or two for the report. */
  readonly about: string
  /** Whether it takes minutes by its nature; only run when asked for by name. */
  readonly long?: boolean
  /** Why it can't be run here. */
  unavailable?(): string | undefined
  measure(bench: Bench): Promise<Measured>
}
