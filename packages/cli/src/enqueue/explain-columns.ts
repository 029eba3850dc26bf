import { type ColumnDescription, ownColumns, type Queryable, type TypeDescription } from '@pg-tasks/sql'

/** No such column; a required one is missing. */
const ABOUT_COLUMNS = new Set(['42703', '23502'])

/** Where enqueueing fails for its columns, the error gets a hint: which there are. */
export async function explainColumns<Value>(
  connection: Queryable,
  type: TypeDescription,
  enqueue: () => Promise<Value>,
): Promise<Value> {
  try {
    return await enqueue()
  } catch (error) {
    const raised = error as { readonly code?: unknown; hint?: string }
    if (typeof raised.code === 'string' && ABOUT_COLUMNS.has(raised.code) && raised.hint === undefined) {
      const columns = await ownColumns(connection, type.tableId).catch(() => [])
      if (columns.length > 0) raised.hint = `Its columns: ${columns.map(described).join(', ')}.`
    }
    throw error
  }
}

function described({ name, type, nullable, optional, generated }: ColumnDescription): string {
  return nullable || optional || generated ? `${name} (${type})` : `${name} (${type}, required)`
}
