import { useState } from 'preact/hooks'
import { useText } from '../../i18n/use-text.js'
import { post } from '../../state/api.js'
import { FormDialog } from '../form-dialog.js'

interface CleanDialogProps {
  readonly path: string
  readonly name: string
  readonly onClose: () => void
}

const STATES = ['finished', 'failed', 'canceled'] as const
const DAY_MS = 86_400_000

/** Deletes ended tasks of some age, part by part, and shows how many are gone. */
export function CleanDialog({ path, name, onClose }: CleanDialogProps) {
  const { say } = useText()
  const [days, setDays] = useState('30')
  const [states, setStates] = useState<readonly string[]>(['finished'])
  const [deleted, setDeleted] = useState(0)
  const clean = async (): Promise<string> => {
    let total = 0
    for (let more = true; more; ) {
      const answer = await post<{ readonly deleted: number; readonly more: boolean }>(`${path}/clean`, {
        olderThanMs: Number(days) * DAY_MS,
        states,
      })
      more = answer.more
      total += answer.deleted
      setDeleted(total)
    }
    return say('deleted', { n: total })
  }
  const toggle = (state: string): void =>
    setStates(states.includes(state) ? states.filter((one) => one !== state) : [...states, state])
  return (
    <FormDialog
      title={say('cleanTitle', { type: name })}
      submit={say('clean')}
      grave
      onClose={onClose}
      onSubmit={clean}
    >
      <div class="field">
        <label for="days">
          {say('olderThan')} ({say('days')})
        </label>
        <input
          id="days"
          type="number"
          min="0"
          step="any"
          required
          value={days}
          onInput={(event) => setDays(event.currentTarget.value)}
        />
      </div>
      <fieldset>
        <legend>{say('cleanStates')}</legend>
        {STATES.map((state) => (
          <label key={state} class="check">
            <input type="checkbox" checked={states.includes(state)} onChange={() => toggle(state)} /> {say(state)}
          </label>
        ))}
      </fieldset>
      <p role="status" class="hint">
        {deleted > 0 ? say('deleted', { n: deleted }) : ''}
      </p>
    </FormDialog>
  )
}
