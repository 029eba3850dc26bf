import type { StoredSchedule } from '@pg-tasks/sql'
import { useState } from 'preact/hooks'
import { type TextKey, useText } from '../../i18n/use-text.js'
import { pathOf, post, remove } from '../../state/api.js'
import { addressOf, go } from '../../state/router.js'
import { FormDialog } from '../form-dialog.js'
import { useAction } from '../use-action.js'
import { BackfillDialog } from './backfill-dialog.js'
import { ScheduleDialog } from './schedule-dialog.js'

interface ScheduleActionsProps {
  readonly schedule: StoredSchedule
  readonly onDone: () => void
}

/** What can be done with a schedule. */
export function ScheduleActions({ schedule, onDone }: ScheduleActionsProps) {
  const { say } = useText()
  const { busy, act } = useAction()
  const [open, setOpen] = useState<'edit' | 'backfill' | 'remove'>()
  const path = `schedules/${pathOf(schedule.key)}`
  const run = async (verb: string, done: TextKey): Promise<void> => {
    await act(async () => {
      await post(`${path}/${verb}`)
      return say(done)
    })
    onDone()
  }
  const trigger = async (): Promise<void> => {
    await act(async () => {
      const { id } = await post<{ readonly id: string | null }>(`${path}/trigger`)
      return id === null ? say('triggeredNone') : say('triggered', { id })
    })
    onDone()
  }
  const close = (): void => {
    setOpen(undefined)
    onDone()
  }
  return (
    <div class="buttons">
      {schedule.state === 'paused' ? (
        <button type="button" disabled={busy} onClick={() => void run('resume', 'resumed')}>
          {say('resume')}
        </button>
      ) : (
        <button type="button" disabled={busy} onClick={() => void run('pause', 'pausedDone')}>
          {say('pause')}
        </button>
      )}
      <button type="button" onClick={() => setOpen('edit')}>
        {say('actionEdit')}…
      </button>
      <button type="button" onClick={() => setOpen('backfill')}>
        {say('backfill')}…
      </button>
      <button type="button" class="grave" onClick={() => setOpen('remove')}>
        {say('removeSchedule')}…
      </button>
      <button type="button" class="primary" disabled={busy} onClick={() => void trigger()}>
        {say('trigger')}
      </button>
      {open === 'edit' && <ScheduleDialog schedule={schedule} onClose={close} />}
      {open === 'backfill' && <BackfillDialog path={path} name={schedule.key} onClose={close} />}
      {open === 'remove' && (
        <FormDialog
          title={say('removeTitle', { key: schedule.key })}
          submit={say('removeSchedule')}
          grave
          onClose={() => setOpen(undefined)}
          onSubmit={async () => {
            await remove(path)
            go(addressOf(['schedules']))
            return say('removed')
          }}
        >
          <p>{say('removeText')}</p>
        </FormDialog>
      )}
    </div>
  )
}
