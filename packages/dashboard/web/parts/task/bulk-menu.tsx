import type { TaskState } from '@pg-tasks/sql'
import { useState } from 'preact/hooks'
import { useText } from '../../i18n/use-text.js'
import { BulkDialog } from './bulk-dialog.js'
import { TASK_VERBS, type TaskVerb } from './task-verbs.js'

interface BulkMenuProps {
  readonly path: string
  readonly selection: URLSearchParams
  readonly state: TaskState | undefined
  readonly onDone: () => void
}

/** Actions on all tasks that the state and the filters select. */
export function BulkMenu({ path, selection, state, onDone }: BulkMenuProps) {
  const { say } = useText()
  const [verb, setVerb] = useState<TaskVerb>()
  const verbs = TASK_VERBS.filter(({ states }) => state === undefined || states.includes(state))
  return (
    <>
      <details class="menu">
        <summary>{say('bulk')}</summary>
        <div class="popup">
          {verbs.map((one) => (
            <button
              key={one.action}
              type="button"
              class={one.grave ? 'item grave' : 'item'}
              onClick={(event) => {
                event.currentTarget.closest('details')?.removeAttribute('open')
                setVerb(one)
              }}
            >
              {say(one.name)}…
            </button>
          ))}
        </div>
      </details>
      {verb !== undefined && (
        <BulkDialog
          path={path}
          selection={selection}
          verb={verb}
          onClose={() => {
            setVerb(undefined)
            onDone()
          }}
        />
      )}
    </>
  )
}
