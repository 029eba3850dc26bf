import { useState } from 'preact/hooks'
import { useText } from '../../i18n/use-text.js'
import { post } from '../../state/api.js'
import { FormDialog } from '../form-dialog.js'

interface PauseDialogProps {
  readonly path: string
  readonly name: string
  readonly onClose: () => void
}

/** Pauses a type. */
export function PauseDialog({ path, name, onClose }: PauseDialogProps) {
  const { say } = useText()
  const [reason, setReason] = useState('')
  const pause = async (): Promise<string> => {
    await post(`${path}/settings/pause`, { reason })
    return say('pausedDone')
  }
  return (
    <FormDialog title={say('pauseTitle', { type: name })} submit={say('pause')} onClose={onClose} onSubmit={pause}>
      <p>{say('pauseText')}</p>
      <div class="field">
        <label for="reason">{say('reason')}</label>
        <input id="reason" value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
      </div>
    </FormDialog>
  )
}
