import { useState } from 'preact/hooks'
import { useText } from '../../i18n/use-text.js'
import { post } from '../../state/api.js'
import { preferences } from '../../state/preferences.js'
import { useStore } from '../../state/store.js'
import { FormDialog } from '../form-dialog.js'

interface BackfillDialogProps {
  readonly path: string
  readonly name: string
  readonly onClose: () => void
}

/** Enqueues past occurrences between two times, which are in the zone that the page shows. */
export function BackfillDialog({ path, name, onClose }: BackfillDialogProps) {
  const { say } = useText()
  const { zone } = useStore(preferences)
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const instant = (local: string): string => new Date(zone === 'utc' ? `${local}Z` : local).toISOString()
  const backfill = async (): Promise<string> => {
    const { enqueued } = await post<{ readonly enqueued: number }>(`${path}/backfill`, {
      from: instant(from),
      to: instant(to),
    })
    return say('backfilled', { n: enqueued })
  }
  return (
    <FormDialog
      title={say('backfillTitle', { key: name })}
      submit={say('backfill')}
      onClose={onClose}
      onSubmit={backfill}
    >
      <p>{say('backfillText')}</p>
      <div class="field">
        <label for="from">
          {say('from')} ({say(zone === 'utc' ? 'timesUtc' : 'timesLocal')})
        </label>
        <input
          id="from"
          type="datetime-local"
          step="1"
          required
          value={from}
          onInput={(event) => setFrom(event.currentTarget.value)}
        />
      </div>
      <div class="field">
        <label for="to">
          {say('to')} ({say(zone === 'utc' ? 'timesUtc' : 'timesLocal')})
        </label>
        <input
          id="to"
          type="datetime-local"
          step="1"
          required
          value={to}
          onInput={(event) => setTo(event.currentTarget.value)}
        />
      </div>
    </FormDialog>
  )
}
