/** A table for a terminal: a line of names, then the rows; numbers to the right. */
export function printTable(names: readonly string[], rows: ReadonlyArray<readonly unknown[]>): string {
  const cells = [names, ...rows].map((row) => row.map(textOf))
  const widths = names.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const right = names.map(
    (_, column) =>
      rows.some((row) => isNumber(row[column])) &&
      rows.every((row) => textOf(row[column]) === '' || isNumber(row[column])),
  )
  const lines = cells.map((row) =>
    row
      .map((cell, column) => (right[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
  return [lines[0], widths.map((width) => '─'.repeat(width)).join('  '), ...lines.slice(1)].join('\n')
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value))
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
