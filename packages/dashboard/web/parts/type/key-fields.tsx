import type { KeyLimit, TypeOverview } from '@pg-tasks/sql'
import { useText } from '../../i18n/use-text.js'
import type { TypeAnswer } from '../../pages/type-page.js'
import { NumberField } from '../number-field.js'

/** The limit on keys as the form has it. */
export interface KeyValues {
  readonly columns: readonly string[]
  readonly concurrency: string
  readonly onRetry: NonNullable<KeyLimit['onRetry']>
}

/** Columns of the template that may be part of a key; the queue itself writes the others. */
const TEMPLATE_COLUMNS = ['group_key', 'priority', 'trace_id']

/** Types whose values can't be compared; there are rarer ones, which the database refuses. */
const INCOMPARABLE = ['json', 'xml']

export function keyValuesOf({ keyColumns, keyConcurrency, keyOnRetry }: TypeOverview): KeyValues {
  return { columns: keyColumns ?? [], concurrency: String(keyConcurrency ?? 1), onRetry: keyOnRetry ?? 'block' }
}

interface KeyFieldsProps {
  readonly answer: TypeAnswer
  readonly values: KeyValues
  readonly onValues: (values: KeyValues) => void
}

/** Which columns make the key, and what tasks of one key may do beside each other. */
export function KeyFields({ answer, values, onValues }: KeyFieldsProps) {
  const { say } = useText()
  const { columns, concurrency, onRetry } = values
  const possible = answer.columns
    .filter(
      ({ name, template, type }) => !INCOMPARABLE.includes(type) && (!template || TEMPLATE_COLUMNS.includes(name)),
    )
    .map(({ name }) => name)
  // One that is hidden here, or gone, can still be taken away.
  const offered = [...new Set([...(answer.type.keyColumns ?? []), ...possible])]
  const toggle = (name: string): void => {
    const chosen = columns.includes(name) ? columns.filter((one) => one !== name) : [...columns, name]
    onValues({ ...values, columns: chosen })
  }
  return (
    <>
      <fieldset class="choices">
        <legend>{say('keyColumns')}</legend>
        {offered.map((name) => (
          <label key={name} class="check">
            <input type="checkbox" checked={columns.includes(name)} onChange={() => toggle(name)} /> {name}
          </label>
        ))}
      </fieldset>
      {columns.length > 0 && (
        <>
          <NumberField
            id="key-concurrency"
            label={say('keyConcurrency')}
            required
            value={concurrency}
            onValue={(value) => onValues({ ...values, concurrency: value })}
          />
          <div class="field">
            <label for="on-retry">{say('keyOnRetry')}</label>
            <select
              id="on-retry"
              value={onRetry}
              onChange={(event) => onValues({ ...values, onRetry: event.currentTarget.value as KeyValues['onRetry'] })}
            >
              <option value="block">{say('keyBlock')}</option>
              <option value="step_aside">{say('keyStepAside')}</option>
            </select>
          </div>
          <p class="hint">{say('keyHint')}</p>
        </>
      )}
    </>
  )
}
