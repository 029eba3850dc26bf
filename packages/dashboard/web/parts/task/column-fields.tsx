import type { ShownColumn } from '../../../server/column-rules.js'
import { useText } from '../../i18n/use-text.js'

/** Values of fields by column, as typed. */
export type FieldValues = Readonly<Record<string, string>>

/** Columns of the queue that a form may set. */
const SETTABLE: ReadonlySet<string> = new Set([
  'planned_to',
  'priority',
  'comment',
  'group_key',
  'trace_id',
  'traceparent',
])

/** Columns that a form has fields for: the type's own, then some of the queue. */
export function fieldColumns(columns: readonly ShownColumn[], queueColumns: readonly string[]): ShownColumn[] {
  const own = columns.filter((column) => !column.template && !column.generated)
  return [...own, ...columns.filter((column) => SETTABLE.has(column.name) && queueColumns.includes(column.name))]
}

interface ColumnFieldsProps {
  readonly columns: readonly ShownColumn[]
  readonly values: FieldValues
  readonly onChange: (values: FieldValues) => void
  /** Whether a column without default must be given; not when it has a value already. */
  readonly require: boolean
  readonly idPrefix: string
}

/** A field per column, made for its type. */
export function ColumnFields({ columns, values, onChange, require, idPrefix }: ColumnFieldsProps) {
  const { say } = useText()
  return (
    <div class="fields">
      {columns.map((column) => {
        const id = `${idPrefix}-${column.name}`
        const required = require && column.notNull && column.default === null
        const set = (value: string): void => onChange({ ...values, [column.name]: value })
        const hints = [
          column.type,
          required ? say('required') : '',
          column.default === null ? '' : say('defaultIs', { value: column.default }),
          column.references === null ? '' : say('refersTo', { target: column.references }),
          column.comment ?? '',
        ].filter((hint) => hint !== '')
        return (
          <div key={column.name} class={`field of-${column.family}`}>
            <label for={id}>
              {column.name}
              {required && <span aria-hidden="true"> *</span>}
            </label>
            <Input id={id} column={column} value={values[column.name] ?? ''} required={required} onInput={set} />
            <p id={`${id}-hint`} class="hint">
              {hints.join(' · ')}
            </p>
          </div>
        )
      })}
    </div>
  )
}

interface InputProps {
  readonly id: string
  readonly column: ShownColumn
  readonly value: string
  readonly required: boolean
  readonly onInput: (value: string) => void
}

const INPUT_MODES: Partial<Record<ShownColumn['family'], 'decimal'>> = { number: 'decimal' }

function Input({ id, column, value, required, onInput }: InputProps) {
  const { say } = useText()
  const common = { id, required, 'aria-describedby': `${id}-hint` }
  const choices = column.family === 'boolean' ? ['true', 'false'] : column.enumValues
  if (choices !== null) {
    return (
      <select {...common} value={value} onChange={(event) => onInput(event.currentTarget.value)}>
        <option value="">{required ? say('chooseOne') : '–'}</option>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    )
  }
  if (column.family === 'json' || value.length > 60 || value.includes('\n')) {
    return (
      <textarea
        {...common}
        rows={4}
        spellcheck={false}
        placeholder={column.family === 'json' ? '{"key": "value"}' : ''}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    )
  }
  const field = {
    ...common,
    autocomplete: 'off',
    value,
    onInput: (event: { readonly currentTarget: HTMLInputElement }) => onInput(event.currentTarget.value),
  } as const
  if (column.masked) return <input type="password" {...field} />
  return <input type="text" inputMode={INPUT_MODES[column.family]} placeholder={placeholderOf(column)} {...field} />
}

function placeholderOf({ family, type }: ShownColumn): string {
  if (family === 'time') return type === 'date' ? '2026-01-31' : '2026-01-31 12:00:00+00'
  if (family === 'array') return '{a,b}'
  return ''
}
