import { describeType, hasTable, listTypes, type Queryable, type TypeDescription } from '@pg-tasks/sql'
import { didYouMean } from '../arguments/did-you-mean.js'
import { parseTypeName } from '../arguments/parse-type-name.js'
import { CliError } from '../cli-error.js'

/**
 * The registered type that is meant: without a schema that of `tasks`, else the only one of that table name.
 *
 * @throws CliError with a suggestion
 */
export async function findType(connection: Queryable, written: string): Promise<TypeDescription> {
  const { schema, table } = parseTypeName(written)
  const exact = await describeType(connection, schema ?? 'tasks', table)
  if (exact !== undefined) return exact
  const types = await listTypes(connection)
  const named = schema === undefined ? types.filter((type) => type.table === table) : []
  const [only, ...others] = named
  if (only !== undefined && others.length === 0) {
    const found = await describeType(connection, only.schema, only.table)
    if (found !== undefined) return found
  }
  if (named.length === 0 && (await hasTable(connection, schema ?? 'tasks', table))) {
    throw new CliError(`${written} is not a registered task type.`, {
      hint: `Its table is there: pg-tasks register ${written}`,
    })
  }
  const names = types.map((type) => `${type.schema}.${type.table}`)
  const meant =
    didYouMean(
      table,
      types.map((type) => type.table),
    ) ?? didYouMean(written, names)
  throw new CliError(`${written} is not a registered task type.`, {
    hint:
      named.length > 1
        ? `Say which: ${named.map((type) => `${type.schema}.${type.table}`).join(', ')}.`
        : meant !== undefined
          ? `Did you mean ${meant}?`
          : names.length === 0
            ? 'None is registered yet: pg-tasks register <table>.'
            : `There are ${names.join(', ')}.`,
  })
}

/** How a type is called in what people read: the schema `tasks` is left out. */
export function typeLabel({ schema, table }: { readonly schema: string; readonly table: string }): string {
  return schema === 'tasks' ? table : `${schema}.${table}`
}
