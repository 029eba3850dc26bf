import type { StoredSchedule } from '@pg-tasks/sql'
import { useCallback, useState } from 'preact/hooks'
import { useText } from '../i18n/use-text.js'
import { Duration } from '../parts/duration.js'
import { Empty } from '../parts/empty.js'
import { Link } from '../parts/link.js'
import { ProblemText } from '../parts/problem-text.js'
import { ScheduleDialog } from '../parts/schedule/schedule-dialog.js'
import { Cadence, ScheduleState } from '../parts/schedule/schedule-facts.js'
import { Scroll } from '../parts/scroll.js'
import { Time } from '../parts/time.js'
import { useSession } from '../parts/use-session.js'
import { useData } from '../state/use-data.js'

const DECLARE = `worker.schedule(new NightlyReport(), { key: 'report', cron: '0 3 * * *', timezone: 'Europe/Berlin' }, {})`

/** All schedules. */
export function SchedulesPage() {
  const { say } = useText()
  const session = useSession()
  const { value, error, reload } = useData<{ readonly schedules: readonly StoredSchedule[] }>(
    'schedules',
    useCallback(() => true, []),
  )
  const [creating, setCreating] = useState(false)
  return (
    <>
      <div class="heading">
        <h1>{say('schedules')}</h1>
        {session?.readOnly === false && (
          <div class="buttons">
            <button type="button" class="primary" onClick={() => setCreating(true)}>
              {say('newSchedule')}…
            </button>
          </div>
        )}
      </div>
      {creating && (
        <ScheduleDialog
          onClose={() => {
            setCreating(false)
            reload()
          }}
        />
      )}
      {error !== undefined && <ProblemText error={error} onRetry={reload} />}
      {value !== undefined && value.schedules.length === 0 && (
        <Empty title={say('noSchedules')} help={say('noSchedulesHelp')} code={DECLARE} />
      )}
      {value !== undefined && value.schedules.length > 0 && (
        <Scroll label={say('schedules')}>
          <table>
            <thead>
              <tr>
                <th scope="col">{say('key')}</th>
                <th scope="col">{say('state')}</th>
                <th scope="col">{say('type')}</th>
                <th scope="col">{say('cadence')}</th>
                <th scope="col">{say('nextAt')}</th>
                <th scope="col">{say('lastAt')}</th>
                <th scope="col" class="right">
                  {say('lag')}
                </th>
              </tr>
            </thead>
            <tbody>
              {value.schedules.map((schedule) => (
                <tr key={schedule.key}>
                  <th scope="row">
                    <Link to={['schedules', schedule.key]}>{schedule.key}</Link>
                  </th>
                  <td>
                    <ScheduleState schedule={schedule} />
                  </td>
                  <td>
                    <Link to={['types', schedule.schema, schedule.table]}>{schedule.table}</Link>
                  </td>
                  <td>
                    <Cadence schedule={schedule} />
                  </td>
                  <td>
                    <Time at={text(schedule.nextAt)} />
                  </td>
                  <td>
                    <Time at={text(schedule.lastAt)} />
                  </td>
                  <td class="right">
                    <Duration ms={schedule.lagMs} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </>
  )
}

/** Dates come as text. */
function text(date: Date | null): string | null {
  return date as unknown as string | null
}
