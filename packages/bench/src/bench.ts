import { describeMachine } from './measure/machine.js'
import type { MetricName, Values } from './measure/metrics.js'
import type { BenchOptions } from './options.js'
import { configurationOf } from './peers/configurations.js'
import type { Participant } from './peers/peers.js'
import type { ResultAim, ResultRow, ScenarioResult } from './results.js'
import type { BenchServer } from './server/bench-server.js'
import { runTrial } from './trials/run-trial.js'
import type { TrialName, TrialParameters } from './trials/trial.js'
import { versions } from './versions.js'

/** How often a run is repeated that others disturbed. */
const MOST_REPEATS = 5

/** One participant of a comparison. */
export interface Entry {
  /** Names the row; by default peer/config. */
  readonly key?: string
  readonly label?: string
  readonly participant: Participant
  /** By default the comparison's. */
  readonly trial?: TrialName
  readonly parameters: TrialParameters
}

/** What is compared, and what it should come to. */
export interface Comparison {
  readonly trial: TrialName
  readonly entries: readonly Entry[]
  readonly metrics: readonly MetricName[]
  readonly bars: MetricName
  readonly aims: readonly ResultAim[]
  /** By default what the command line says. */
  readonly rounds?: number
  /** Tasks of an extra run of each participant in which statements are counted; none by default. */
  readonly countStatementsOf?: number
}

export type Measured = Pick<ScenarioResult, 'metrics' | 'bars' | 'rows' | 'aims'>

/** Runs trials: each in a fresh database and a fresh process, the participants taking turns. */
export class Bench {
  readonly options: BenchOptions
  readonly server: BenchServer
  readonly #log: (line: string) => void

  constructor(options: BenchOptions, server: BenchServer, log: (line: string) => void) {
    this.options = options
    this.server = server
    this.#log = log
  }

  /** The first number, or with --quick the second. */
  size(full: number, quick: number): number {
    return this.options.quick ? quick : full
  }

  async compare(comparison: Comparison): Promise<Measured> {
    const { trial, metrics, bars, aims, countStatementsOf } = comparison
    const { participants } = this.options
    const entries = comparison.entries.filter(
      (entry) => participants.length === 0 || participants.some((text) => keyOf(entry).includes(text)),
    )
    const rows = new Map(entries.map((entry) => [keyOf(entry), [] as Values[]]))
    const rounds = comparison.rounds ?? this.options.rounds
    for (let round = 1; round <= rounds; round += 1) {
      for (const entry of entries) {
        const values = await this.#runQuietly(entry.trial ?? trial, entry.participant, entry.parameters)
        rows.get(keyOf(entry))?.push(values)
        this.#log(`  round ${round}  ${keyOf(entry).padEnd(28)} ${describe(values, metrics)}`)
      }
    }
    if (countStatementsOf !== undefined) {
      for (const entry of entries) {
        const maxSeconds = Math.min(entry.parameters.maxSeconds ?? 15, 15)
        const parameters = { ...entry.parameters, countStatements: true, count: countStatementsOf, maxSeconds }
        const values = await this.#run(entry.trial ?? trial, entry.participant, parameters)
        rows.get(keyOf(entry))?.push(values)
      }
    }
    return { metrics, bars, aims, rows: entries.map((entry) => rowOf(entry, rows.get(keyOf(entry)) ?? [])) }
  }

  /** Adds to what was measured where and with what. */
  result(scenario: Pick<ScenarioResult, 'name' | 'title' | 'about'>, measured: Measured): ScenarioResult {
    return {
      ...scenario,
      date: new Date().toISOString(),
      quick: this.options.quick,
      rounds: Math.max(...measured.rows.map((row) => row.values[measured.bars]?.length ?? 0)),
      machine: describeMachine(),
      versions: { ...versions(), PostgreSQL: this.server.version },
      server: this.server.settings,
      ...measured,
    }
  }

  /** The quietest of some runs, if others use the machine more than they may. */
  async #runQuietly(trial: TrialName, participant: Participant, parameters: TrialParameters): Promise<Values> {
    let quietest = await this.#run(trial, participant, parameters)
    const { maxOthers = 1 } = this.options
    for (let repeats = 0; repeats < MOST_REPEATS && (quietest.othersShare ?? 0) > maxOthers; repeats += 1) {
      const again = await this.#run(trial, participant, parameters)
      if ((again.othersShare ?? 0) < (quietest.othersShare ?? 0)) quietest = again
    }
    return quietest
  }

  async #run(trial: TrialName, participant: Participant, parameters: TrialParameters): Promise<Values> {
    const database = await this.server.createDatabase(parameters.countStatements === true)
    try {
      await this.server.checkpoint()
      const { postmaster } = this.server
      return await runTrial({ trial, participant, parameters, url: database.url, postmaster })
    } finally {
      await database.drop()
    }
  }
}

/** Rows of two comparisons of the same participants, side by side. */
export function mergeRows(rows: readonly ResultRow[], others: readonly ResultRow[]): ResultRow[] {
  return rows.map((row) => ({
    ...row,
    values: { ...row.values, ...others.find(({ key }) => key === row.key)?.values },
  }))
}

function keyOf({ key, participant }: Entry): string {
  return key ?? `${participant.peer}/${participant.config}`
}

function rowOf(entry: Entry, runs: readonly Values[]): ResultRow {
  const { participant } = entry
  const { label, settings } = configurationOf(participant)
  const values: Partial<Record<MetricName, number[]>> = {}
  for (const run of runs) {
    for (const [metric, value] of Object.entries(run) as Array<[MetricName, number]>) {
      values[metric] = [...(values[metric] ?? []), value]
    }
  }
  return {
    key: keyOf(entry),
    label: entry.label ?? label,
    peer: participant.peer,
    participant: label,
    settings,
    values,
  }
}

function describe(values: Values, metrics: readonly MetricName[]): string {
  return metrics
    .filter((metric) => values[metric] !== undefined)
    .map((metric) => `${metric} ${Number((values[metric] as number).toPrecision(4))}`)
    .join('  ')
}
