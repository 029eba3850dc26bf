import type { TaskCounts, TaskState } from '@pg-tasks/sql'
import { useText } from '../../i18n/use-text.js'
import { addressOf, go, usePlace } from '../../state/router.js'
import { Figure } from '../chart/figure.js'

const STATES: readonly TaskState[] = ['scheduled', 'ready', 'running', 'finished', 'failed', 'canceled']

interface StateTabsProps {
  readonly counts: TaskCounts | undefined
  readonly current: TaskState | undefined
}

/** The states with their numbers; one may be chosen. Filters stay, the order and the page are the state's own. */
export function StateTabs({ counts, current }: StateTabsProps) {
  const { say } = useText()
  const { segments, query } = usePlace()
  const addressFor = (state: TaskState | undefined): string => {
    const next = new URLSearchParams(query)
    for (const key of ['state', 'order', 'after']) next.delete(key)
    if (state !== undefined) next.set('state', state)
    return addressOf(segments, next)
  }
  return (
    <nav class="tabs" aria-label={say('state')}>
      {[undefined, ...STATES].map((state) => (
        <a
          key={state ?? 'all'}
          href={addressFor(state)}
          class={state === undefined ? undefined : `state-${state}`}
          aria-current={state === current ? 'true' : undefined}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
            event.preventDefault()
            go(addressFor(state))
          }}
        >
          {say(state ?? 'all')}{' '}
          {state !== undefined && (
            <span class="count">{counts === undefined ? '–' : <Figure of={counts.states[state]} />}</span>
          )}
        </a>
      ))}
    </nav>
  )
}
