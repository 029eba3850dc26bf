import type { ShownColumn } from '../../../server/column-rules.js'
import { useText } from '../../i18n/use-text.js'
import { goWith, usePlace } from '../../state/router.js'
import { visibleColumns } from './visible-columns.js'

/** Which columns the table shows; the address keeps it. */
export function ColumnPicker({ columns }: { readonly columns: readonly ShownColumn[] }) {
  const { say } = useText()
  const { query } = usePlace()
  const visible = new Set(visibleColumns(columns, query).map(({ name }) => name))
  const toggle = (name: string): void => {
    const next = new Set(visible)
    if (!next.delete(name)) next.add(name)
    goWith((changed) => changed.set('columns', [...next].map(encodeURIComponent).join(',')), { replace: true })
  }
  const group = (title: string, template: boolean) => (
    <fieldset>
      <legend>{title}</legend>
      {columns
        .filter((column) => column.template === template && column.name !== 'id')
        .map(({ name, type }) => (
          <label key={name} class="check">
            <input type="checkbox" checked={visible.has(name)} onChange={() => toggle(name)} /> {name}{' '}
            <span class="hint">{type}</span>
          </label>
        ))}
    </fieldset>
  )
  return (
    <details class="menu">
      <summary>{say('columns')}</summary>
      <div class="popup">
        {group(say('ownColumns'), false)}
        {group(say('queueColumns'), true)}
      </div>
    </details>
  )
}
