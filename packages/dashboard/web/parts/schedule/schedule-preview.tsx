import type { StoredSchedule } from '@pg-tasks/sql'
import { useEffect, useState } from 'preact/hooks'
import { useText } from '../../i18n/use-text.js'
import { ApiError, post } from '../../state/api.js'
import { Time } from '../time.js'
import { type ScheduleForm, timingOf } from './schedule-fields.js'

/** How long typing rests before the server is asked, in milliseconds. */
const REST_MS = 300

interface SchedulePreviewProps {
  readonly form: ScheduleForm
  readonly stored: StoredSchedule | undefined
}

/** The next occurrences of what is typed, or why there are none. */
export function SchedulePreview({ form, stored }: SchedulePreviewProps) {
  const { say } = useText()
  const [answer, setAnswer] = useState<{ readonly next: readonly string[] } | { readonly problem: string }>({
    next: [],
  })
  const { overlap: _overlap, ...timing } = timingOf(form, stored)
  const asked = JSON.stringify(timing)
  useEffect(() => {
    let current = true
    const timer = setTimeout(() => {
      post<{ readonly next: readonly string[] }>('schedules/preview', { timing: JSON.parse(asked) }).then(
        (value) => current && setAnswer(value),
        (error: unknown) =>
          current && setAnswer({ problem: error instanceof ApiError ? error.problem.message : String(error) }),
      )
    }, REST_MS)
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [asked])
  return (
    <div class="schedule-preview" role="status">
      <h3>{say('nextOccurrences')}</h3>
      {'problem' in answer ? (
        <p class="problem">{answer.problem}</p>
      ) : (
        <ol class="plain">
          {answer.next.map((at) => (
            <li key={at}>
              <Time at={at} />
            </li>
          ))}
        </ol>
      )}
    </div>
  )
}
