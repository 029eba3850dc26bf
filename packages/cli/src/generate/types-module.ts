import type { ColumnDescription } from '@pg-tasks/sql'
import { readType, writeType } from './column-type.js'
import { camelCase, uniqueNames } from './type-names.js'

/** A registered type and the columns of its own. */
export interface GeneratedType {
  readonly schema: string
  readonly table: string
  readonly columns: readonly ColumnDescription[]
}

/**
 * A TypeScript module with, for each type: the row of its own columns for `Task<…>`, the table for Kysely, and the names of the
 * columns for the option `columns` of Task; and the tables of all types by name.
 */
export function typesModule(types: readonly GeneratedType[]): string {
  const names = uniqueNames(types)
  const texts = types.map((type, at) => typeText(type, names[at] ?? ''))
  const tables = types.map(({ schema, table }, at) => `  ${literal(`${schema}.${table}`)}: ${names[at]}Table`)
  const all = [
    '// Written by "pg-tasks types generate" from the database. Changes made here are lost.',
    imports(texts.join('')),
    ...texts,
    `/** The task tables, by the names that Kysely takes. */\nexport interface TaskTables {\n${tables.join('\n')}\n}\n`.replace(
      '{\n\n}',
      '{}',
    ),
  ]
  return `${all.join('\n')}`
}

function imports(text: string): string {
  const names = ['ColumnType', 'TaskTable'].filter((name) => text.includes(name))
  return names.length === 0 ? '' : `import type { ${names.join(', ')} } from '@pg-tasks/sql'\n`
}

function typeText({ schema, table, columns }: GeneratedType, name: string): string {
  const row = columns.map((column) => {
    const optional = column.optional || column.generated ? '?' : ''
    return `${comment(column)}  ${key(column.name)}${optional}: ${readType(column)}`
  })
  const kysely = columns.map((column) => `  ${key(column.name)}: ${kyselyType(column)}`)
  const list = columns.map((column) => literal(column.name)).join(', ')
  return [
    `/** Own columns of ${schema}.${table}, for Task<${name}>. What may be left out when enqueueing is optional. */`,
    row.length === 0 ? `export type ${name} = object` : `export interface ${name} {\n${row.join('\n')}\n}`,
    '',
    `/** ${schema}.${table} for Kysely. */`,
    kysely.length === 0
      ? `export type ${name}Table = TaskTable`
      : `export interface ${name}Table extends TaskTable {\n${kysely.join('\n')}\n}`,
    '',
    `/** For the option \`columns\` of the Task: a worker then refuses to start on a table that lacks one. */`,
    `export const ${camelCase(name)}Columns = [${list}] as const`,
    '',
  ].join('\n')
}

function kyselyType(column: ColumnDescription): string {
  const read = readType(column)
  if (column.generated) return `ColumnType<${read}, never, never>`
  const write = `${writeType(column)}${column.nullable ? ' | null' : ''}`
  const insert = column.optional || column.nullable ? `${write} | undefined` : write
  return read === write && read === insert ? read : `ColumnType<${read}, ${insert}, ${write}>`
}

function comment(column: ColumnDescription): string {
  const text = column.comment?.replaceAll('*/', '* /').replaceAll(/\s*\n\s*/g, ' ')
  return text === undefined ? '' : `  /** ${text} */\n`
}

function key(name: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) ? name : literal(name)
}

function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
