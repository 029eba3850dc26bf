import { type Painter, painter } from './painter.js'
import { type TableColumn, table } from './table.js'

/** Where a command's answer goes: tables for people, or one JSON document for programs. */
export class Output {
  readonly json: boolean
  readonly paint: Painter

  constructor({ json = false }: { readonly json?: boolean | undefined }) {
    this.json = json
    this.paint = painter(process.stdout)
  }

  /** Whether somebody sees it now. */
  get isTerminal(): boolean {
    return process.stdout.isTTY === true && !this.json
  }

  /** The answer: `value` with --json, else what `human` writes. */
  answer(value: unknown, human: () => string): void {
    process.stdout.write(this.json ? `${JSON.stringify(value, null, process.stdout.isTTY ? 2 : undefined)}\n` : human())
  }

  /** One of several answers that come in time: a line of JSON each. */
  line(value: unknown, human: () => string): void {
    process.stdout.write(this.json ? `${JSON.stringify(value)}\n` : human())
  }

  table<Row>(rows: readonly Row[], columns: ReadonlyArray<TableColumn<Row>>): string {
    const { columns: width } = process.stdout
    return table(rows, columns, { paint: this.paint, ...(this.isTerminal && width ? { width } : {}) })
  }
}

/** Something said beside the answer: on standard error, so that a pipe gets only the answer. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`)
}
