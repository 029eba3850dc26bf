import { useState } from 'preact/hooks'
import { useText } from '../../i18n/use-text.js'
import type { TypeAnswer } from '../../pages/type-page.js'
import { post } from '../../state/api.js'
import { FormDialog } from '../form-dialog.js'
import { NumberField } from '../number-field.js'
import { KeyFields, type KeyValues, keyValuesOf } from './key-fields.js'

interface LimitsDialogProps {
  readonly path: string
  readonly answer: TypeAnswer
  readonly onClose: () => void
}

const SPANS = [
  { ms: 1_000, name: 'second' },
  { ms: 60_000, name: 'minute' },
  { ms: 3_600_000, name: 'hour' },
] as const

/** Concurrency, rate and keys of a type; what is not changed is not written. */
export function LimitsDialog({ path, answer, onClose }: LimitsDialogProps) {
  const { say } = useText()
  const { type } = answer
  const [most, setMost] = useState(textOf(type.concurrency))
  const [count, setCount] = useState(textOf(type.rateCount))
  const [perMs, setPerMs] = useState(type.ratePerMs ?? 1_000)
  const [burst, setBurst] = useState(textOf(type.rateBurst ?? 1))
  const [keys, setKeys] = useState<KeyValues>(() => keyValuesOf(type))
  const save = async (): Promise<string> => {
    if (most !== textOf(type.concurrency)) await post(`${path}/settings/concurrency`, { most: numberOf(most) })
    const rate = { count: numberOf(count), perMs, burst: numberOf(burst) }
    const same = rate.perMs === type.ratePerMs && rate.burst === type.rateBurst
    if (rate.count !== type.rateCount || (rate.count !== null && !same)) await post(`${path}/settings/rate`, rate)
    if (JSON.stringify(keys) !== JSON.stringify(keyValuesOf(type))) {
      const { columns, concurrency, onRetry } = keys
      await post(`${path}/settings/keys`, { columns, concurrency: numberOf(concurrency), onRetry })
    }
    return say('saved')
  }
  const spans = SPANS.some(({ ms }) => ms === perMs) ? SPANS : [...SPANS, { ms: perMs, name: undefined }]
  return (
    <FormDialog title={say('limitsTitle', { type: type.table })} submit={say('save')} onClose={onClose} onSubmit={save}>
      <NumberField id="most" label={say('concurrency')} placeholder={say('unlimited')} value={most} onValue={setMost} />
      <NumberField id="rate" label={say('rate')} placeholder={say('unlimited')} value={count} onValue={setCount}>
        <select
          aria-label={say('per')}
          value={String(perMs)}
          onChange={(event) => setPerMs(Number(event.currentTarget.value))}
        >
          {spans.map(({ ms, name }) => (
            <option key={ms} value={String(ms)}>
              {say('per')} {name === undefined ? `${ms} ms` : say(name)}
            </option>
          ))}
        </select>
      </NumberField>
      {count !== '' && <NumberField id="burst" label={say('burst')} required value={burst} onValue={setBurst} />}
      <KeyFields answer={answer} values={keys} onValues={setKeys} />
    </FormDialog>
  )
}

function textOf(value: number | null): string {
  return value === null ? '' : String(value)
}

function numberOf(text: string): number | null {
  return text === '' ? null : Number(text)
}
