import {
  type Buckets,
  countTasks,
  type Durations,
  durationBuckets,
  type EndedBucket,
  endedBuckets,
  newestDurations,
  type Queryable,
  readClock,
  type TaskCounts,
  type TypeOverview,
} from '@pg-tasks/sql'

/** How much the figures of a span tell: its length, and how many tasks of each part are looked at. */
export interface Range {
  readonly stepMs: number
  readonly count: number
  readonly mostPerBucket: number
}

/** An hour in two-minute steps, for the small lines of the overview. */
const SPARKLINE: Range = { stepMs: 120_000, count: 30, mostPerBucket: 200 }

/** The spans of a type's charts. */
export const RANGES = {
  '1h': { stepMs: 60_000, count: 60, mostPerBucket: 400 },
  '24h': { stepMs: 900_000, count: 96, mostPerBucket: 250 },
  '7d': { stepMs: 7_200_000, count: 84, mostPerBucket: 250 },
} as const satisfies Record<string, Range>

/** Of each step of a chart, so many runs are measured. */
const MEASURED_PER_BUCKET = 40

/** Of the overview, so many of the newest runs. */
const NEWEST = 500

/** The steps that may still change: the running one, and the one before for commits that come late. */
const OPEN_STEPS = 2

/** The figures of a type on the overview. */
export interface TypeFigures extends TaskCounts {
  readonly finished: readonly EndedBucket[]
  readonly failed: readonly EndedBucket[]
  readonly durations: Durations
}

/** The figures of a type's charts. */
export interface ChartFigures {
  readonly fromMs: number
  readonly stepMs: number
  readonly finished: readonly EndedBucket[]
  readonly failed: readonly EndedBucket[]
  readonly durations: readonly Durations[]
}

/** The steps of a range that end now, at round instants, so that what was read of a step stays true. */
function bucketsUntil(nowMs: number, { stepMs, count }: Range): Buckets {
  return { fromMs: (Math.floor(nowMs / stepMs) - count + 1) * stepMs, stepMs, count }
}

interface Step {
  readonly finished: EndedBucket
  readonly failed: EndedBucket
  readonly durations?: Durations | undefined
}

/** Reads the figures of types; what is over is read once. */
export class FigureReader {
  readonly #known = new Map<string, Map<number, Step>>()

  async figures(connection: Queryable, type: TypeOverview): Promise<TypeFigures> {
    const counts = await countTasks(connection, type, type.keyColumns !== null)
    const { steps } = await this.#steps(connection, type, SPARKLINE, false)
    const durations = await newestDurations(connection, type, NEWEST)
    return {
      ...counts,
      finished: steps.map((step) => step.finished),
      failed: steps.map((step) => step.failed),
      durations,
    }
  }

  async chart(connection: Queryable, type: TypeOverview, range: Range): Promise<ChartFigures> {
    const { buckets, steps } = await this.#steps(connection, type, range, true)
    return {
      fromMs: buckets.fromMs,
      stepMs: buckets.stepMs,
      finished: steps.map((step) => step.finished),
      failed: steps.map((step) => step.failed),
      durations: steps.flatMap((step) => (step.durations === undefined ? [] : [step.durations])),
    }
  }

  async #steps(
    connection: Queryable,
    type: TypeOverview,
    range: Range,
    measured: boolean,
  ): Promise<{ buckets: Buckets; steps: readonly Step[] }> {
    const buckets = bucketsUntil(await readClock(connection), range)
    const { stepMs, count } = buckets
    const key = `${type.tableId} ${stepMs} ${measured}`
    const known = this.#known.get(key) ?? new Map<number, Step>()
    const starts = Array.from({ length: count }, (_, n) => buckets.fromMs + n * stepMs)
    const missing = starts.findIndex((start, n) => n >= count - OPEN_STEPS || !known.has(start))
    const rest: Buckets = { fromMs: starts[missing] as number, stepMs, count: count - missing }
    const ended = await endedBuckets(connection, type, rest, range.mostPerBucket)
    const durations = measured ? await durationBuckets(connection, type, rest, MEASURED_PER_BUCKET) : []
    const steps = new Map(starts.slice(0, missing).map((start) => [start, known.get(start) as Step]))
    for (let n = 0; n < rest.count; n += 1) {
      steps.set(rest.fromMs + n * stepMs, {
        finished: ended.finished[n] as EndedBucket,
        failed: ended.failed[n] as EndedBucket,
        durations: durations[n],
      })
    }
    this.#known.set(key, steps)
    return { buckets, steps: [...steps.values()] }
  }
}
