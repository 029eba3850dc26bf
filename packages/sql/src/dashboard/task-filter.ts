import { PgTasksSqlError } from '../errors.js'
import { quoteIdentifier } from '../quote-identifier.js'
import type { ColumnFamily, TaskColumn } from './task-columns.js'

/** How a column is compared. */
export type FilterOperator = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge' | 'contains' | 'starts' | 'has' | 'empty' | 'given'

/** A condition on one column; the value as text, as PostgreSQL reads it. */
export interface TaskFilter {
  readonly column: string
  readonly operator: FilterOperator
  readonly value?: string | undefined
}

const ORDER: readonly FilterOperator[] = ['eq', 'ne', 'lt', 'le', 'gt', 'ge']
const NULLS: readonly FilterOperator[] = ['empty', 'given']

/** The operators that make sense for a column's values. */
export const FILTER_OPERATORS: Readonly<Record<ColumnFamily, readonly FilterOperator[]>> = {
  number: [...ORDER, ...NULLS],
  time: ['lt', 'le', 'gt', 'ge', 'eq', 'ne', ...NULLS],
  text: ['eq', 'ne', 'contains', 'starts', ...NULLS],
  enum: ['eq', 'ne', ...NULLS],
  boolean: ['eq', ...NULLS],
  uuid: ['eq', 'ne', ...NULLS],
  json: ['has', 'contains', ...NULLS],
  array: ['has', 'contains', ...NULLS],
  other: ['contains', ...NULLS],
}

const COMPARISONS: Partial<Record<FilterOperator, string>> = { eq: '=', ne: '<>', lt: '<', le: '<=', gt: '>', ge: '>=' }

/** Operators for which a btree index finds the rows. */
const BY_INDEX: readonly FilterOperator[] = ['eq', 'lt', 'le', 'gt', 'ge', 'empty']

/** Whether an index finds the rows of this filter, wherever they are. */
export function isIndexed(filter: TaskFilter, columns: readonly TaskColumn[]): boolean {
  return BY_INDEX.includes(filter.operator) && columnOf(filter, columns).indexed
}

/**
 * A filter as a condition on `t`; its value becomes a parameter.
 *
 * @throws PgTasksSqlError `INVALID_ARGUMENT` if the table has no such column, or the operator doesn't fit it
 */
export function filterCondition(
  filter: TaskFilter,
  columns: readonly TaskColumn[],
  parameter: (value: unknown) => string,
): string {
  const column = columnOf(filter, columns)
  const name = `t.${quoteIdentifier(column.name)}`
  const { operator, value } = filter
  if (!FILTER_OPERATORS[column.family].includes(operator)) {
    throw new PgTasksSqlError(
      'INVALID_ARGUMENT',
      `filter: ${operator} doesn't fit ${column.name} (${column.type}): give one of ${FILTER_OPERATORS[column.family].join(', ')}.`,
    )
  }
  if (operator === 'empty') return `${name} is null`
  if (operator === 'given') return `${name} is not null`
  if (value === undefined) {
    throw new PgTasksSqlError('INVALID_ARGUMENT', `filter: ${operator} on ${column.name} needs a value.`)
  }
  if (operator === 'contains') return `position(lower(${parameter(value)}::text) in lower(${name}::text)) > 0`
  if (operator === 'starts') return `starts_with(${name}::text, ${parameter(value)}::text)`
  if (operator === 'has') {
    return column.family === 'json'
      ? `${name}::jsonb @> ${parameter(value)}::jsonb`
      : `${parameter(value)}::text = any (${name}::text[])`
  }
  return `${name} ${COMPARISONS[operator]} ${parameter(value)}::text::${column.type}`
}

function columnOf({ column: name }: TaskFilter, columns: readonly TaskColumn[]): TaskColumn {
  const column = columns.find((one) => one.name === name)
  if (column === undefined) {
    throw new PgTasksSqlError('INVALID_ARGUMENT', `filter: there is no column ${JSON.stringify(name)}.`)
  }
  return column
}
