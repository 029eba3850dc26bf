import type { Machine } from './measure/machine.js'
import type { MetricName } from './measure/metrics.js'

/** One participant of a scenario: what each of its rounds gave. */
export interface ResultRow {
  readonly key: string
  readonly label: string
  /** The queue, and the name of its configuration. */
  readonly peer: string
  readonly participant: string
  readonly settings: string
  readonly values: Readonly<Partial<Record<MetricName, readonly number[]>>>
}

/** What a scenario is about: a ratio of two rows, or the value of one. */
export interface ResultAim {
  readonly text: string
  readonly metric: MetricName
  readonly of: string
  /** Row to compare with; without it the value itself is judged. */
  readonly than?: string
  readonly atLeast?: number
  readonly atMost?: number
}

/** A scenario that was run. */
export interface ScenarioResult {
  readonly name: string
  readonly title: string
  readonly about: string
  readonly date: string
  readonly quick: boolean
  readonly rounds: number
  readonly machine: Machine
  readonly versions: Readonly<Record<string, string>>
  readonly server: string
  /** Shown in this order. */
  readonly metrics: readonly MetricName[]
  /** Shown as bars. */
  readonly bars: MetricName
  readonly rows: readonly ResultRow[]
  readonly aims: readonly ResultAim[]
}
