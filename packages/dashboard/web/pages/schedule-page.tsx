import type { HandledOccurrence, StoredSchedule } from '@pg-tasks/sql'
import { useCallback } from 'preact/hooks'
import { formatDuration } from '../format.js'
import { useText } from '../i18n/use-text.js'
import { Link } from '../parts/link.js'
import { ProblemText } from '../parts/problem-text.js'
import { OccurrenceTable } from '../parts/schedule/occurrence-table.js'
import { ScheduleActions } from '../parts/schedule/schedule-actions.js'
import { Cadence, ScheduleState } from '../parts/schedule/schedule-facts.js'
import { Time } from '../parts/time.js'
import { useSession } from '../parts/use-session.js'
import { pathOf } from '../state/api.js'
import { useData } from '../state/use-data.js'

/** What the server tells of a schedule; dates come as text. */
export interface ScheduleAnswer {
  readonly schedule: StoredSchedule
  readonly next: readonly string[]
  readonly history: readonly HandledOccurrence[]
}

/** One schedule: when it is due next, what became of it, what can be done. */
export function SchedulePage({ scheduleKey }: { readonly scheduleKey: string }) {
  const { say, language } = useText()
  const session = useSession()
  const { value, error, reload } = useData<ScheduleAnswer>(
    `schedules/${pathOf(scheduleKey)}`,
    useCallback(() => true, []),
  )
  const schedule = value?.schedule
  return (
    <>
      <div class="heading">
        <nav class="crumbs" aria-label={say('schedules')}>
          <Link to={['schedules']}>{say('schedules')}</Link>
        </nav>
        <h1>
          {scheduleKey} {schedule !== undefined && <ScheduleState schedule={schedule} />}
        </h1>
        {schedule !== undefined && session?.readOnly === false && error === undefined && (
          <ScheduleActions schedule={schedule} onDone={reload} />
        )}
      </div>
      {error !== undefined && <ProblemText error={error} onRetry={reload} />}
      {value !== undefined && schedule !== undefined && (
        <>
          {schedule.lastError !== null && <p class="problem">{schedule.lastError}</p>}
          <dl class="facts">
            <div>
              <dt>{say('type')}</dt>
              <dd>
                <Link to={['types', schedule.schema, schedule.table]}>{schedule.table}</Link>
              </dd>
            </div>
            <div>
              <dt>{say('cadence')}</dt>
              <dd>
                <Cadence schedule={schedule} />
              </dd>
            </div>
            <div>
              <dt>{say('catchUp')}</dt>
              <dd>
                {say(CATCH_UP[schedule.catchUp])} ({formatDuration(schedule.catchUpWindowMs, language)})
              </dd>
            </div>
            <div>
              <dt>{say('overlap')}</dt>
              <dd>{say(OVERLAP[schedule.overlap])}</dd>
            </div>
            <div>
              <dt>{say('dropped')}</dt>
              <dd class="num">{schedule.dropped}</dd>
            </div>
            <div>
              <dt>{say('origin')}</dt>
              <dd>{say(schedule.origin === 'code' ? 'originCode' : 'originApi')}</dd>
            </div>
            {schedule.pausedReason !== null && (
              <div>
                <dt>{say('paused')}</dt>
                <dd>{schedule.pausedReason}</dd>
              </div>
            )}
            <div>
              <dt>{say('values')}</dt>
              <dd>
                <code>{JSON.stringify(schedule.columns)}</code>
              </dd>
            </div>
          </dl>
          <div class="task-grid">
            <section>
              <h2>{say('occurrenceHistory')}</h2>
              <OccurrenceTable history={value.history} schema={schedule.schema} table={schedule.table} />
            </section>
            <section aria-labelledby="next">
              <h2 id="next">{say('nextOccurrences')}</h2>
              <ol class="plain">
                {value.next.map((at) => (
                  <li key={at}>
                    <Time at={at} />
                  </li>
                ))}
              </ol>
            </section>
          </div>
        </>
      )}
    </>
  )
}

const CATCH_UP = { none: 'catchUpNone', latest: 'catchUpLatest', all: 'catchUpAll' } as const
const OVERLAP = { allow: 'overlapAllow', skip: 'overlapSkip', buffer_one: 'overlapBuffer' } as const
