import { missingColumns, type Queryable, type TypeDescription } from '@pg-tasks/sql'
import { TableShapeError } from '../../errors/database-errors.js'

/**
 * Compares a type's table with the columns that its Task says it needs.
 *
 * @throws TableShapeError that names those that are missing
 */
export async function checkColumns(
  connection: Queryable,
  { tableId, schema, table }: TypeDescription,
  columns: readonly string[] | undefined,
): Promise<void> {
  if (columns === undefined) return
  const { missing } = await missingColumns(connection, tableId, columns)
  if (missing.length === 0) return
  throw new TableShapeError(
    `The table ${schema}.${table} lacks ${missing.join(', ')}, which the code expects: apply the migration that adds ` +
      'what is missing, or write the types anew (pg-tasks types generate)',
    { schema, table },
  )
}
