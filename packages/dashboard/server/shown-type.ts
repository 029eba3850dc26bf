import {
  type Queryable,
  type TaskColumn,
  type TaskSelectionOptions,
  type TypeOverview,
  taskColumns,
  typeOverviews,
} from '@pg-tasks/sql'
import { type ShownColumn, shownColumns } from './column-rules.js'
import { DashboardRefusal } from './problem.js'
import { badRequest, type DashboardContext, type Services } from './services.js'

/** A type with the columns that may be shown. */
export interface ShownType {
  readonly type: TypeOverview
  readonly columns: readonly ShownColumn[]
  /** Names of columns whose values may leave the database, and of those that may not. */
  readonly show: readonly string[]
  readonly mask: readonly string[]
  /** Columns that filters and orders may use. */
  readonly usable: readonly TaskColumn[]
  /** Whether tasks may be held back by their keys. */
  readonly hasKeys: boolean
}

/** The type that a request's path names. */
export function nameOf(context: DashboardContext): { readonly schema: string; readonly table: string } {
  return { schema: context.req.param('schema') ?? '', table: context.req.param('table') ?? '' }
}

/** @throws DashboardRefusal if there is no such type */
export async function shownType(
  services: Services,
  connection: Queryable,
  name: { readonly schema: string; readonly table: string },
): Promise<ShownType> {
  const { options } = services
  const [type] = await typeOverviews(connection, name)
  if (type === undefined) {
    throw new DashboardRefusal(
      404,
      'TYPE_NOT_REGISTERED',
      `${name.schema}.${name.table} is not a registered task type.`,
    )
  }
  const columns = shownColumns(options.columns, type.schema, type.table, await columnsOf(services, connection, type))
  const usable = columns.filter((column) => !column.masked)
  return {
    type,
    columns,
    show: usable.map((column) => column.name),
    mask: columns.filter((column) => column.masked).map((column) => column.name),
    usable,
    hasKeys: type.keyColumns !== null,
  }
}

/** A hidden or masked column is as if it weren't there: an order or a filter by it would tell its values. */
export function refuseUnusable({ order, filters = [] }: TaskSelectionOptions, usable: readonly TaskColumn[]): void {
  const used = [...(order === undefined ? [] : [order.column]), ...filters.map((filter) => filter.column)]
  for (const column of used) {
    if (!usable.some(({ name }) => name === column))
      throw badRequest(`There is no column ${column} to filter or sort by.`)
  }
}

/** How long columns are taken for what they were, in milliseconds: describing them takes as long as a page of tasks. */
const TRUE_FOR_MS = 5_000

const known = new WeakMap<Services, Map<string, { readonly columns: readonly TaskColumn[]; readonly at: number }>>()

async function columnsOf(
  services: Services,
  connection: Queryable,
  type: TypeOverview,
): Promise<readonly TaskColumn[]> {
  const ofServices = known.get(services) ?? new Map()
  known.set(services, ofServices)
  const before = ofServices.get(type.tableId)
  if (before !== undefined && performance.now() - before.at < TRUE_FOR_MS) return before.columns
  const columns = await taskColumns(connection, type)
  ofServices.set(type.tableId, { columns, at: performance.now() })
  return columns
}
