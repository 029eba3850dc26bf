import { quoteIdentifier } from '../quote-identifier.js'
import type { TaskTypeName } from '../task-type-name.js'
import type { TaskColumn } from './task-columns.js'

/** The INSERT with which a task of a type begins, for people to fill in. */
export function insertExample(
  { schema, table }: Pick<TaskTypeName, 'schema' | 'table'>,
  columns: readonly TaskColumn[],
): string {
  const plain = (name: string): string => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : quoteIdentifier(name))
  const names = columns
    .filter((column) => !column.template && !column.generated && column.notNull && column.default === null)
    .map(({ name }) => plain(name))
  const what =
    names.length === 0 ? 'default values' : `(${names.join(', ')})\nvalues (${names.map(() => '…').join(', ')})`
  return `insert into ${plain(schema)}.${plain(table)} ${what};`
}
