import { quoteIdentifier } from '../quote-identifier.js'
import { type TaskTypeName, tableOf } from '../task-type-name.js'
import type { TaskState } from '../template-row.js'
import { stateCondition } from './state-conditions.js'
import type { TaskColumn } from './task-columns.js'
import { filterCondition, isIndexed, type TaskFilter } from './task-filter.js'
import {
  afterCursor,
  defaultOrder,
  orderBy,
  type TaskCursor,
  type TaskOrder,
  type TaskWalk,
  walkOf,
} from './task-walk.js'

/** Which tasks of a type, and in which order. */
export interface TaskSelectionOptions {
  readonly state?: TaskState | undefined
  readonly filters?: readonly TaskFilter[] | undefined
  /** @defaultValue the order of the state's index; without a state, the newest first */
  readonly order?: TaskOrder | undefined
  /**
   * Whether the type has keys, which hold tasks back.
   * @defaultValue false
   */
  readonly hasKeys?: boolean | undefined
}

/** Asked once per statement, and constant in it, so that it can be an index condition. */
export const NOW = '(select tasks.clock())'

/** Where filters aren't served by an index, so many rows are looked at in one statement: along one index, or merged from several parts of one. */
const WINDOW = 10_000
const MERGED_WINDOW = 2_500

/** A filter that finds no more rows than this is where a selection begins. */
export const FEW = 5_000

/** A selection of tasks as text for statements; nothing is sent from here. */
export class TaskSelection {
  readonly table: string
  readonly walk: TaskWalk
  readonly parameters: unknown[] = []
  readonly #state: TaskState | undefined
  readonly #columns: readonly TaskColumn[]
  readonly #filters: readonly TaskFilter[]
  readonly #conditions: readonly string[]

  /** @throws PgTasksSqlError `INVALID_ARGUMENT` for a filter or an order that can't be used */
  constructor(
    type: TaskTypeName,
    columns: readonly TaskColumn[],
    { state, filters = [], order, hasKeys }: TaskSelectionOptions,
  ) {
    this.table = tableOf(type)
    this.walk = walkOf(state, order ?? defaultOrder(state), columns, NOW, hasKeys)
    this.#state = state
    this.#columns = columns
    this.#filters = filters
    this.#conditions = [...this.walk.filters, ...filters.map((filter) => this.#condition(filter))]
  }

  /** Whether some conditions are not served by the index of the order. */
  get filtered(): boolean {
    return this.#conditions.length > 0
  }

  /** How many rows one statement looks at. */
  get windowRows(): number {
    return this.walk.branches.length === 1 ? WINDOW : MERGED_WINDOW
  }

  /** Filters that an index serves, each with the statement that tells whether it finds few rows. */
  probes(): Array<{ readonly filter: TaskFilter; readonly text: string; readonly parameters: readonly unknown[] }> {
    return this.#filters
      .filter((filter) => isIndexed(filter, this.#columns))
      .map((filter) => {
        const parameters: unknown[] = []
        const condition = filterCondition(filter, this.#columns, (value) => `$${parameters.push(value)}`)
        const text = `select count(*)::integer as count from (select from ${this.table} t where ${condition} limit ${FEW + 1}) x`
        return { filter, text, parameters }
      })
  }

  /** FROM … WHERE … of all tasks that are selected, found by one of the filters. */
  found(by: TaskFilter, cursor: TaskCursor | undefined): string {
    const state = this.#state === undefined ? [] : [stateCondition(this.#state, NOW)]
    const ordered = this.walk.column === 'id' ? [] : [`t.${quoteIdentifier(this.walk.column)} is not null`]
    const all = [...state, ...ordered, ...this.#conditions, ...this.#after(cursor)]
    return `from (select t.* from ${this.table} t where ${this.#condition(by)} offset 0) t where ${all.join(' and ')}`
  }

  /** FROM … of the first `rows` rows along the index after a cursor, whether or not the filters let them through. */
  window(rows: number, cursor: TaskCursor | undefined): string {
    const after = this.#after(cursor)
      .map((condition) => ` and ${condition}`)
      .join('')
    const branches = this.walk.branches.map(
      (branch) =>
        `(select t.* from ${this.table} t where ${branch}${after} order by ${orderBy(this.walk)} limit ${rows})`,
    )
    if (branches.length === 1) return `from ${branches[0]} t`
    return `from (select t.* from (${branches.join(' union all ')}) t order by ${orderBy(this.walk)} limit ${rows}) t`
  }

  /** WHERE … of the filters, empty if there is none. */
  get where(): string {
    return this.filtered ? `where ${this.#conditions.join(' and ')}` : ''
  }

  get orderBy(): string {
    return orderBy(this.walk)
  }

  #condition(filter: TaskFilter): string {
    return filterCondition(filter, this.#columns, (value) => `$${this.parameters.push(value)}`)
  }

  #after(cursor: TaskCursor | undefined): string[] {
    return cursor === undefined ? [] : [afterCursor(this.walk, cursor, (value) => `$${this.parameters.push(value)}`)]
  }
}
