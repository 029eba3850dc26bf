import { UsageError } from '../cli-error.js'

/** Schema (where one is given) and table of a task type. */
export interface WrittenTypeName {
  readonly schema: string | undefined
  readonly table: string
}

/** `send_invoice`, `shop.send_invoice`, `"My shop"."it's"`; names are taken literally, so case counts without quotes too. */
export function parseTypeName(text: string): WrittenTypeName {
  const [, first = '', second] = /^("(?:[^"]|"")+"|[^".]+)(?:\.("(?:[^"]|"")+"|[^"]+))?$/.exec(text) ?? []
  if (first === '') throw new UsageError(`"${text}" is no name of a task type: write table or schema.table.`)
  return second === undefined
    ? { schema: undefined, table: unquoted(first) }
    : { schema: unquoted(first), table: unquoted(second) }
}

function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name
}
