import type { Queryable } from '../connection.js'

/** Makes a type's functions follow a rename of its table; false when the table or the type is gone. */
export async function refreshType(connection: Queryable, tableId: string): Promise<boolean> {
  const result = await connection.query('select tasks.refresh($1::oid) as refreshed', [tableId])
  return (result.rows[0] as { refreshed: boolean }).refreshed
}
