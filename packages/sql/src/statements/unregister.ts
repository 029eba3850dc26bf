import { type Connection, toQueryable } from '../connection.js'

/** Takes a type out of the registry; its table and tasks stay. Idempotent. */
export async function unregister(connection: Connection, schema: string, table: string): Promise<void> {
  await toQueryable(connection).query('select tasks.unregister($1::text, $2::text)', [schema, table])
}
