import type { TaskState } from '@pg-tasks/sql'
import type { OverviewType } from '../../../server/overview.js'
import { formatDuration } from '../../format.js'
import { useText } from '../../i18n/use-text.js'
import { Figure } from '../chart/figure.js'
import { Sparkline } from '../chart/sparkline.js'
import { Duration } from '../duration.js'
import { Link } from '../link.js'

const SHOWN: readonly TaskState[] = ['ready', 'running', 'scheduled', 'failed', 'canceled', 'finished']

/** One task type on the overview. */
export function TypeRow({ type }: { readonly type: OverviewType }) {
  const { say, language } = useText()
  const { schema, table, figures, pausedAt, storageMs } = type
  const path = ['types', schema, table]
  return (
    <li class="row type-row">
      <div class="name">
        <Link to={path}>
          {schema !== 'tasks' && <span class="schema">{schema}.</span>}
          {table}
        </Link>
        {pausedAt !== null && <span class="tag warn">{say('paused')}</span>}
        {figures !== null && (
          <p class={figures.oldestDueMs !== null && figures.oldestDueMs > 60_000 ? 'due late' : 'due'}>
            {figures.oldestDueMs !== null
              ? `${say('oldestDue')}: ${formatDuration(figures.oldestDueMs, language)}`
              : figures.nextDueMs !== null
                ? say('nextIn', { time: formatDuration(figures.nextDueMs, language) })
                : say('nothingDue')}
          </p>
        )}
      </div>
      {figures === null ? (
        <p class="hint">{say('mayNotRead')}</p>
      ) : (
        <>
          <dl class="counts">
            {SHOWN.map((state) => (
              <div key={state} class={`state-${state}${figures.states[state].count === 0 ? ' zero' : ''}`}>
                <dt>{say(state)}</dt>
                <dd>
                  <Link to={path} query={{ state }} label={`${table}: ${say(state)} ${figures.states[state].count}`}>
                    <Figure of={figures.states[state]} />
                  </Link>
                </dd>
              </div>
            ))}
          </dl>
          <div class="lines">
            {storageMs === 0 ? (
              <p class="hint">{say('deletedAtFinish')}</p>
            ) : (
              <Sparkline
                buckets={figures.finished}
                kind="finished"
                label={`${say('throughput')}, ${say('lastHour')}: ${total(figures.finished)}`}
              />
            )}
            <Sparkline
              buckets={figures.failed}
              kind="failed"
              label={`${say('failures')}, ${say('lastHour')}: ${total(figures.failed)}`}
            />
          </div>
          <dl class="durations" title={`${say('medianAndP95')}, ${say('newest', { n: figures.durations.tasks })}`}>
            <div>
              <dt>{say('wait')}</dt>
              <dd>
                <Duration ms={figures.durations.waitP50Ms} /> <span class="none">·</span>{' '}
                <Duration ms={figures.durations.waitP95Ms} />
              </dd>
            </div>
            <div>
              <dt>{say('run')}</dt>
              <dd>
                <Duration ms={figures.durations.runP50Ms} /> <span class="none">·</span>{' '}
                <Duration ms={figures.durations.runP95Ms} />
              </dd>
            </div>
          </dl>
        </>
      )}
    </li>
  )
}

function total(buckets: ReadonlyArray<{ readonly count: number }>): number {
  return buckets.reduce((all, { count }) => all + count, 0)
}
