import type { Painter } from './painter.js'
import { cutToWidth, textWidth } from './text-width.js'

/** A column of a table for people. */
export interface TableColumn<Row> {
  readonly name: string
  readonly value: (row: Row) => string
  /** @defaultValue 'left' */
  readonly align?: 'left' | 'right' | undefined
  readonly paint?: ((text: string, row: Row) => string) | undefined
  /** May be cut off where the terminal is too narrow. @defaultValue false */
  readonly flexible?: boolean | undefined
}

/** Rows in aligned columns under their names; within `width` columns if that can be done by cutting flexible ones. */
export function table<Row>(
  rows: readonly Row[],
  columns: ReadonlyArray<TableColumn<Row>>,
  { paint, width = Number.POSITIVE_INFINITY }: { readonly paint: Painter; readonly width?: number },
): string {
  const cells = rows.map((row) => columns.map((column) => oneLine(column.value(row))))
  const widths = fitted(
    columns.map((column, at) => Math.max(textWidth(column.name), ...cells.map((line) => textWidth(line[at] ?? '')))),
    columns,
    width,
  )
  const head = columns.map((column, at) => paint.dim(padded(column.name, widths[at] ?? 0, column.align)))
  const lines = cells.map((line, index) =>
    columns.map((column, at) => {
      const text = padded(cutToWidth(line[at] ?? '', widths[at] ?? 0), widths[at] ?? 0, column.align)
      return column.paint === undefined ? text : column.paint(text, rows[index] as Row)
    }),
  )
  return [head, ...lines].map((line) => `${line.join('  ').trimEnd()}\n`).join('')
}

function fitted<Row>(widths: readonly number[], columns: ReadonlyArray<TableColumn<Row>>, most: number): number[] {
  const result = [...widths]
  const total = (): number => result.reduce((sum, one) => sum + one, 2 * (result.length - 1))
  while (total() > most) {
    const widest = result.reduce(
      (found, one, at) => (columns[at]?.flexible === true && one > (result[found] ?? 0) ? at : found),
      columns.findIndex((column) => column.flexible === true),
    )
    const before = result[widest]
    if (before === undefined || before <= 8) break
    result[widest] = Math.max(8, before - (total() - most))
  }
  return result
}

function padded(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - textWidth(text)))
  return align === 'right' ? space + text : text + space
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ')
}
