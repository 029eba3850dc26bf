import type { Queryable } from '../connection.js'

/** Whether there is a table of this name, registered or not. */
export async function hasTable(connection: Queryable, schema: string, table: string): Promise<boolean> {
  const { rows } = await connection.query('select to_regclass(format($1, $2::text, $3::text)) is not null as there', [
    '%I.%I',
    schema,
    table,
  ])
  return (rows[0] as { there: boolean }).there
}
