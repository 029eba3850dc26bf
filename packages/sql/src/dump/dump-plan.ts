import type { Queryable } from '../connection.js'
import { type CopiedTable, copiedTables } from './copied-tables.js'
import {
  constraints,
  defaults,
  enums,
  extensions,
  functions,
  indexes,
  ownerships,
  schemas,
  sequences,
  sequenceValues,
  tables,
  triggers,
  views,
} from './definitions.js'
import { omittedObjects } from './omitted-objects.js'

/** A database as statements and rows, in the order in which it is made anew on a database with our migrations. */
export interface DumpPlan {
  /** Version of the server. */
  readonly server: string
  /** Before the rows. */
  readonly before: readonly string[]
  readonly tables: readonly CopiedTable[]
  /** After the rows. */
  readonly after: readonly string[]
  /** What is there and isn't carried over, for people. */
  readonly omitted: readonly string[]
}

/**
 * Plans a dump that needs no pg_dump: of the users' schemas, extensions, enums, sequences, tables, functions, views, indexes,
 * constraints and triggers, and of what the schema tasks holds. Call it in a transaction with one snapshot, in which the rows
 * are copied too.
 */
export async function dumpPlan(connection: Queryable): Promise<DumpPlan> {
  const parts = async (...queries: Array<(connection: Queryable) => Promise<string[]>>): Promise<string[]> => {
    const statements: string[] = []
    for (const query of queries) statements.push(...(await query(connection)))
    return statements
  }
  const { rows } = await connection.query(`select current_setting('server_version') as server`)
  return {
    server: (rows[0] as { server: string }).server,
    // A function's body may name tables, a default may call a function.
    before: [
      'set local check_function_bodies = off',
      ...(await parts(schemas, extensions, enums, sequences, tables, functions, defaults, ownerships)),
    ],
    tables: await copiedTables(connection),
    // The verbs and views of the types come last: they need the registry's rows.
    after: [...(await parts(sequenceValues, constraints, indexes, views, triggers)), 'select tasks.refresh_all()'],
    omitted: await omittedObjects(connection),
  }
}
