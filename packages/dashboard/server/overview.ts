import { typeOverviews } from '@pg-tasks/sql'
import type { Database, Stopwatch } from './database.js'
import { FigureReader, type TypeFigures } from './type-figures.js'

/** A type on the overview; without figures where this database role may not read the table. */
export interface OverviewType {
  readonly schema: string
  readonly table: string
  readonly pausedAt: string | null
  readonly storageMs: number | null
  readonly figures: TypeFigures | null
}

/** Reading takes at most this share of the time, however many types there are. */
const MOST_SHARE = 0.1

/** The figures of all types, read for everybody who looks at once, and not more often than they are worth. */
export class Overview {
  readonly reader = new FigureReader()
  readonly #database: Database
  readonly #refreshIntervalMs: number
  #reading: Promise<readonly OverviewType[]> | undefined
  #read: { readonly types: readonly OverviewType[]; readonly at: number; readonly tookMs: number } | undefined

  constructor(database: Database, refreshIntervalMs: number) {
    this.#database = database
    this.#refreshIntervalMs = refreshIntervalMs
  }

  /** How long what was read last holds, in milliseconds. */
  get intervalMs(): number {
    return Math.max(this.#refreshIntervalMs, (this.#read?.tookMs ?? 0) / MOST_SHARE)
  }

  /** The figures, at most `intervalMs` old unless others are asked for. */
  async types(stopwatch?: Stopwatch, maxAgeMs = this.intervalMs): Promise<readonly OverviewType[]> {
    if (this.#read !== undefined && performance.now() - this.#read.at < maxAgeMs) return this.#read.types
    this.#reading ??= this.#readAll(stopwatch).finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readAll(stopwatch: Stopwatch = { databaseMs: 0 }): Promise<readonly OverviewType[]> {
    const begun = performance.now()
    const types = await this.#database.look(async (connection) => {
      const read: OverviewType[] = []
      for (const type of await typeOverviews(connection)) {
        const { schema, table, pausedAt, storageMs } = type
        const figures = type.mayRead ? await this.reader.figures(connection, type) : null
        read.push({ schema, table, pausedAt, storageMs, figures })
      }
      return read
    }, stopwatch)
    const now = performance.now()
    this.#read = { types, at: now, tookMs: now - begun }
    return types
  }
}
