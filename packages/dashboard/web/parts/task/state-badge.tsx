import type { TaskState } from '@pg-tasks/sql'
import { useText } from '../../i18n/use-text.js'

/** A state: its name, and a dot of its colour; a ready task that its key holds back is marked. */
export function StateBadge({ state, held }: { readonly state: TaskState; readonly held: boolean }) {
  const { say } = useText()
  return (
    <>
      <span class={`badge state-${state}`}>{say(state)}</span>
      {held && (
        <>
          {' '}
          <span class="tag" title={say('heldHint')}>
            {say('held')}
          </span>
        </>
      )}
    </>
  )
}
