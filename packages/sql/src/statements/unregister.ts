import type { Queryable } from '../connection.js'

/** Takes a type out of the registry; its table and tasks stay. Idempotent. */
export async function unregister(connection: Queryable, schema: string, table: string): Promise<void> {
  await connection.query('select tasks.unregister($1::text, $2::text)', [schema, table])
}
