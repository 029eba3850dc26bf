import type { TypeOverview } from '@pg-tasks/sql'
import { useState } from 'preact/hooks'
import { useText } from '../i18n/use-text.js'
import { post } from '../state/api.js'
import { FormDialog } from './form-dialog.js'

interface LimitsDialogProps {
  readonly path: string
  readonly type: TypeOverview
  readonly onClose: () => void
}

const SPANS = [
  { ms: 1_000, name: 'second' },
  { ms: 60_000, name: 'minute' },
  { ms: 3_600_000, name: 'hour' },
] as const

/** Concurrency and rate of a type; what is not changed is not written. */
export function LimitsDialog({ path, type, onClose }: LimitsDialogProps) {
  const { say } = useText()
  const [most, setMost] = useState(textOf(type.concurrency))
  const [count, setCount] = useState(textOf(type.rateCount))
  const [perMs, setPerMs] = useState(type.ratePerMs ?? 1_000)
  const save = async (): Promise<string> => {
    if (most !== textOf(type.concurrency)) await post(`${path}/settings/concurrency`, { most: numberOf(most) })
    if (count !== textOf(type.rateCount) || (count !== '' && perMs !== type.ratePerMs)) {
      await post(`${path}/settings/rate`, { count: numberOf(count), perMs })
    }
    return say('saved')
  }
  const spans = SPANS.some(({ ms }) => ms === perMs) ? SPANS : [...SPANS, { ms: perMs, name: undefined }]
  return (
    <FormDialog title={say('limitsTitle', { type: type.table })} submit={say('save')} onClose={onClose} onSubmit={save}>
      <div class="field">
        <label for="most">{say('concurrency')}</label>
        <input
          id="most"
          type="number"
          min="1"
          step="1"
          placeholder={say('unlimited')}
          value={most}
          onInput={(event) => setMost(event.currentTarget.value)}
        />
      </div>
      <div class="field">
        <label for="rate">{say('rate')}</label>
        <div class="pair">
          <input
            id="rate"
            type="number"
            min="1"
            step="1"
            placeholder={say('unlimited')}
            value={count}
            onInput={(event) => setCount(event.currentTarget.value)}
          />
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
        </div>
      </div>
    </FormDialog>
  )
}

function textOf(value: number | null): string {
  return value === null ? '' : String(value)
}

function numberOf(text: string): number | null {
  return text === '' ? null : Number(text)
}
