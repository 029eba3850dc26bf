import type { StoredSchedule } from '@pg-tasks/sql'
import { formatDuration } from '../../format.js'
import { type TextKey, useText } from '../../i18n/use-text.js'

const STATES: Readonly<Record<StoredSchedule['state'], TextKey>> = {
  active: 'active',
  unplanned: 'unplanned',
  paused: 'paused',
  finished: 'scheduleFinished',
}

/** When a schedule is due. */
export function Cadence({ schedule }: { readonly schedule: StoredSchedule }) {
  const { say, language } = useText()
  const { cron, everyMs, timezone } = schedule
  if (cron === null) return <span>{say('every', { time: formatDuration(everyMs, language) })}</span>
  return (
    <span>
      <code>{cron}</code> <span class="hint">{timezone}</span>
    </span>
  )
}

/** How a schedule stands; one that was set aside needs somebody. */
export function ScheduleState({ schedule }: { readonly schedule: StoredSchedule }) {
  const { say } = useText()
  const { state, lastError } = schedule
  const aside = state === 'paused' && lastError !== null
  const kind = aside ? 'failed' : state === 'active' ? 'finished' : state === 'finished' ? 'canceled' : 'scheduled'
  return <span class={`badge state-${kind}`}>{say(aside ? 'setAside' : STATES[state])}</span>
}
