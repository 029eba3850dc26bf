import { arrayLiteral, type TextColumn } from '../columns-as-text.js'
import { quoteIdentifier } from '../quote-identifier.js'
import { rowsAsJson } from '../rows-as-json.js'
import type { ColumnKinds } from './column-kinds.js'

type Row = Readonly<Record<string, unknown>>

/** One INSERT of tasks with the same columns, in one of the ways in which their values can travel. */
export class Insert {
  readonly #table: string
  readonly #columns: readonly string[]
  readonly #delayMs: number | undefined
  #aggregated = false
  text = ''
  parameters: unknown[] = []

  constructor(table: string, columns: readonly string[], delayMs: number | undefined) {
    this.#table = table
    this.#columns = columns.map(quoteIdentifier)
    this.#delayMs = delayMs
  }

  /** Rows without a value of their own. */
  defaults(count: number): void {
    const planned = this.#planned()
    const rows = Array.from({ length: count }, () => `(default${planned.source})`)
    this.text = `insert into ${this.#table} (id${planned.column}) values ${rows.join(', ')} returning id::text as id`
  }

  /** One row, a parameter per value. */
  values(texts: readonly TextColumn[]): void {
    const values = texts.map(([text]) => this.#parameter(text))
    const planned = this.#planned()
    this.text = `insert into ${this.#table} (${this.#columns.join(', ')}${planned.column})
      values (${values.join(', ')}${planned.source}) returning id::text as id`
  }

  /** Any number of rows, an array per column; coalesce gives the parameter the array type of the column. */
  arrays(texts: readonly TextColumn[]): void {
    const arrays = texts.map((column, index) => {
      const parameter = this.#parameter(arrayLiteral(column))
      return `coalesce(${parameter}, array[(null::${this.#table}).${this.#columns[index]}])`
    })
    const names = texts.map((_, index) => `c${index}`)
    const planned = this.#planned()
    // The ids come back as one text: a row each would take the driver longer than the insert takes the server.
    this.#aggregated = true
    this.text = `with inserted as (
        insert into ${this.#table} (${this.#columns.join(', ')}${planned.column})
        select ${names.map((name) => `r.${name}`).join(', ')}${planned.source}
        from unnest(${arrays.join(', ')}) as r (${names.join(', ')})
        returning id
      ) select string_agg(i.id::text, ',') as ids from inserted i`
  }

  /**
   * Any rows: what each column makes of a JSON value is PostgreSQL's business. It fills in a row of NULLs instead of none: into none,
   * it would write NULL where a row says nothing, and a domain that refuses NULL would refuse a column that has a default.
   */
  json(rows: readonly Row[], kinds: ColumnKinds | undefined): void {
    const parameter = this.#parameter(rowsAsJson(rows, kinds))
    const sources = this.#columns.map((name) => `r.${name}`)
    const planned = this.#planned()
    this.text = `insert into ${this.#table} (${this.#columns.join(', ')}${planned.column})
      select ${sources.join(', ')}${planned.source}
      from json_populate_recordset((select row(n.*)::${this.#table} from (select (null::${this.#table}).*) n), ${parameter}::json) r
      returning id::text as id`
  }

  /** What the statement's rows say. */
  idsOf(rows: ReadonlyArray<{ readonly id?: string; readonly ids?: string | null }>): string[] {
    if (!this.#aggregated) return rows.map((row) => row.id as string)
    const ids = rows[0]?.ids
    return ids === undefined || ids === null ? [] : ids.split(',')
  }

  #parameter(value: unknown): string {
    this.parameters.push(value)
    return `$${this.parameters.length}`
  }

  #planned(): { readonly column: string; readonly source: string } {
    if (this.#delayMs === undefined) return { column: '', source: '' }
    const delay = this.#parameter(this.#delayMs)
    return {
      column: ', planned_to',
      source: `, tasks.clock() + make_interval(secs => ${delay}::double precision / 1000)`,
    }
  }
}
