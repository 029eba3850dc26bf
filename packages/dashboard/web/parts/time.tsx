import { formatTime, parseTime } from '../format.js'
import { preferences } from '../state/preferences.js'
import { useStore } from '../state/store.js'

/** An instant in the chosen zone; the exact text of the database is in its title. */
export function Time({ at }: { readonly at: string | null }) {
  const { zone } = useStore(preferences)
  if (at === null) return <span class="none">–</span>
  const date = parseTime(at)
  if (date === undefined) return <span>{at}</span>
  return (
    <time class="time" dateTime={date.toISOString()} title={at}>
      {formatTime(date, zone)}
    </time>
  )
}
