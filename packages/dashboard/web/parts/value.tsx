import type { ShownColumn } from '../../server/column-rules.js'
import { useText } from '../i18n/use-text.js'
import { Time } from './time.js'

/** The value of a column, on one line: text is text, whatever it contains. */
export function Value({ column, value }: { readonly column: ShownColumn; readonly value: string | null | undefined }) {
  const { say } = useText()
  if (value === null || value === undefined) return <span class="none">–</span>
  if (column.masked) {
    return (
      <span class="none" title={say('masked')}>
        {value}
      </span>
    )
  }
  if (column.family === 'time' && column.type.startsWith('timestamp')) return <Time at={value} />
  const name =
    column.family === 'number'
      ? 'num'
      : column.family === 'json' || column.family === 'array' || column.family === 'uuid'
        ? 'mono'
        : ''
  return (
    <span class={`value ${name}`} title={value.length > 24 ? value : undefined}>
      {value}
    </span>
  )
}
