import { MASKED, type TaskColumn } from '@pg-tasks/sql'
import type { ColumnRule, ResolvedDashboardOptions } from './dashboard-options.js'

/** A column as the page may know it. */
export interface ShownColumn extends TaskColumn {
  /** Whether only is shown if there is a value. */
  readonly masked: boolean
}

/** An error of a schedule without the values of columns that may not be shown: the database quotes what it refuses. */
export function shownError(
  rules: Rules,
  schema: string,
  table: string,
  values: Readonly<Record<string, unknown>>,
  error: string | null,
): string | null {
  let shown = error
  for (const [column, value] of Object.entries(values)) {
    const secret = typeof value === 'object' ? JSON.stringify(value) : String(value)
    if (secret !== '' && ruleOf(rules, schema, table, column) !== undefined)
      shown = shown?.replaceAll(secret, MASKED) ?? null
  }
  return shown
}

type Rules = ResolvedDashboardOptions['columns']

/** What the configuration says of a column. */
export function ruleOf(rules: Rules, schema: string, table: string, column: string): ColumnRule | undefined {
  const specific = rules[`${schema}.${table}`]
  if (specific !== undefined && Object.hasOwn(specific, column)) return specific[column]
  const general = rules['*']
  return general !== undefined && Object.hasOwn(general, column) ? general[column] : undefined
}

/** The columns without the hidden ones; a masked one can be neither filtered nor sorted by, which would tell its values. */
export function shownColumns(
  rules: Rules,
  schema: string,
  table: string,
  columns: readonly TaskColumn[],
): ShownColumn[] {
  return columns.flatMap((column) => {
    const rule = column.name === 'id' ? undefined : ruleOf(rules, schema, table, column.name)
    if (rule === 'hide') return []
    const masked = rule === 'mask'
    return [masked ? { ...column, masked, indexed: false, sortable: false, default: null } : { ...column, masked }]
  })
}

/** What of the columns of a schedule's tasks may be shown. */
export function shownValues(
  rules: Rules,
  schema: string,
  table: string,
  values: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const shown = Object.entries(values).flatMap(([column, value]) => {
    const rule = ruleOf(rules, schema, table, column)
    if (rule === 'hide') return []
    return [[column, rule === 'mask' && value !== null ? MASKED : value] as const]
  })
  return Object.fromEntries(shown)
}
