import type { TaskState } from '@pg-tasks/sql'
import { useText } from '../i18n/use-text.js'

/** A state: its name, and a dot of its colour. */
export function StateBadge({ state }: { readonly state: TaskState }) {
  const { say } = useText()
  return <span class={`badge state-${state}`}>{say(state)}</span>
}
