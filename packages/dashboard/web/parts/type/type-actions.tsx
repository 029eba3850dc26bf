import { useState } from 'preact/hooks'
import { useText } from '../../i18n/use-text.js'
import type { TypeAnswer } from '../../pages/type-page.js'
import { pathOf, post } from '../../state/api.js'
import { EnqueueDialog } from '../task/enqueue-dialog.js'
import { useAction } from '../use-action.js'
import { CleanDialog } from './clean-dialog.js'
import { LimitsDialog } from './limits-dialog.js'
import { PauseDialog } from './pause-dialog.js'

interface TypeActionsProps {
  readonly answer: TypeAnswer
  readonly onDone: () => void
}

/** What can be done with a type. */
export function TypeActions({ answer, onDone }: TypeActionsProps) {
  const { say } = useText()
  const { busy, act } = useAction()
  const [open, setOpen] = useState<'enqueue' | 'pause' | 'limits' | 'clean'>()
  const { type, columns } = answer
  const path = `types/${pathOf(type.schema, type.table)}`
  const close = (): void => {
    setOpen(undefined)
    onDone()
  }
  const resume = async (): Promise<void> => {
    await act(async () => {
      await post(`${path}/settings/resume`)
      return say('resumed')
    })
    onDone()
  }
  return (
    <div class="buttons">
      {type.pausedAt === null ? (
        <button type="button" onClick={() => setOpen('pause')}>
          {say('pause')}…
        </button>
      ) : (
        <button type="button" disabled={busy} onClick={() => void resume()}>
          {say('resume')}
        </button>
      )}
      <button type="button" onClick={() => setOpen('limits')}>
        {say('limits')}…
      </button>
      <button type="button" onClick={() => setOpen('clean')}>
        {say('clean')}…
      </button>
      <button type="button" class="primary" onClick={() => setOpen('enqueue')}>
        {say('enqueue')}…
      </button>
      {open === 'enqueue' && <EnqueueDialog path={path} name={type.table} columns={columns} onClose={close} />}
      {open === 'pause' && <PauseDialog path={path} name={type.table} onClose={close} />}
      {open === 'limits' && <LimitsDialog path={path} answer={answer} onClose={close} />}
      {open === 'clean' && <CleanDialog path={path} name={type.table} onClose={close} />}
    </div>
  )
}
