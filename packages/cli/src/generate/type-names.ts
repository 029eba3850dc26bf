/** `send_invoice` → `SendInvoice` */
function pascalCase(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const joined = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')
  return /^\p{L}/u.test(joined) ? joined : `T${joined}`
}

/** `SendInvoice` → `sendInvoice` */
export function camelCase(name: string): string {
  return name.slice(0, 1).toLowerCase() + name.slice(1)
}

/** A name per type: that of its table; where two are the same, with the schema before it, and a number if that is not enough. */
export function uniqueNames(types: ReadonlyArray<{ readonly schema: string; readonly table: string }>): string[] {
  const short = types.map(({ table }) => pascalCase(table))
  const used = new Set<string>()
  return types.map(({ schema, table }, at) => {
    const clash = short.filter((name) => name === short[at]).length > 1
    const wanted = clash ? `${pascalCase(schema)}${pascalCase(table)}` : (short[at] ?? '')
    let name = wanted
    for (let number = 2; used.has(name) || RESERVED.has(name); number += 1) name = `${wanted}${number}`
    used.add(name)
    return name
  })
}

const RESERVED: ReadonlySet<string> = new Set(['TaskTables', 'TaskTable', 'ColumnType', 'Date', 'Buffer', 'Array'])
