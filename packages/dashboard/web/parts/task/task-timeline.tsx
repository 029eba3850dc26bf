import type { TaskAttempt } from '@pg-tasks/sql'
import type { ComponentChildren } from 'preact'
import { formatDuration, parseTime, shortId } from '../../format.js'
import { isTextKey, useText } from '../../i18n/use-text.js'
import type { TaskAnswer } from '../../pages/task-page.js'
import { FoldedText } from '../folded-text.js'
import { Link } from '../link.js'
import { Time } from '../time.js'

interface TimelineEntry {
  readonly at: string
  readonly kind: string
  readonly title: ComponentChildren
  readonly body?: ComponentChildren
}

/** What happened to a task, in the order of time. */
export function TaskTimeline({ answer }: { readonly answer: TaskAnswer }) {
  const { say } = useText()
  const { task, type } = answer
  const entries = useEntries(answer)
  const keepsHistory = type.historyMs !== null
  const { group } = task
  return (
    <section aria-labelledby="timeline" class="timeline-section">
      <h2 id="timeline">{say('timeline')}</h2>
      <ol class="timeline">
        {entries.map(({ at, kind, title, body }, index) => (
          <li key={index} class={kind}>
            <p class="title">
              {title} <Time at={at} />
            </p>
            {body}
          </li>
        ))}
      </ol>
      {group !== null && (
        <p>
          <Link to={['types', type.schema, type.table]} query={{ filter: `group_key:eq:${group.key}` }}>
            {say('inGroup', { key: group.key })}
          </Link>{' '}
          {say('groupFigures', { finished: group.finished, failed: group.failed, canceled: group.canceled })}
        </p>
      )}
      {!keepsHistory && Number(task.values.execution_count ?? 0) > 1 && (
        <>
          <p class="hint">{say('noHistory')}</p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
          <pre tabIndex={0}>
            <code>{`select tasks.keep_history('${type.schema}', '${type.table}');`}</code>
          </pre>
        </>
      )}
    </section>
  )
}

function useEntries({ task, type }: TaskAnswer): readonly TimelineEntry[] {
  const { say, language } = useText()
  const { values } = task
  const entries: TimelineEntry[] = []
  const add = (at: string | null | undefined, entry: Omit<TimelineEntry, 'at'>): void => {
    if (at !== null && at !== undefined) entries.push({ at, ...entry })
  }
  const schedule = values.schedule_key
  add(values.created_at, {
    kind: 'created',
    title: say('created'),
    body:
      schedule !== null && schedule !== undefined ? (
        <p>
          <Link to={['schedules', schedule]}>{say('fromSchedule', { key: schedule })}</Link>{' '}
          {values.occurrence_at !== null && values.occurrence_at !== undefined && <Time at={values.occurrence_at} />}
        </p>
      ) : undefined,
  })
  for (const attempt of task.attempts) {
    add(attempt.startedAt, attemptEntry(attempt))
  }
  for (const { step, attempt, markedAt } of task.marks) {
    add(markedAt, {
      kind: 'mark',
      title: say('step', { step }),
      body: <p class="hint">{say('attempt', { n: attempt })}</p>,
    })
  }
  const known = new Set(task.attempts.map(({ attempt }) => String(attempt)))
  const count = values.execution_count ?? '0'
  if (
    values.started_at !== null &&
    values.started_at !== undefined &&
    (task.state === 'running' || !known.has(count))
  ) {
    add(values.started_at, {
      kind: task.state === 'running' ? 'running' : 'started',
      title: `${say('attempt', { n: count })}: ${say('started').toLowerCase()}`,
      body: (
        <p class="hint">
          {values.run_worker !== null &&
            values.run_worker !== undefined &&
            say('byWorker', { worker: shortId(values.run_worker) })}{' '}
          {task.leasedUntil !== null && task.state === 'running' && (
            <>
              {say('leaseUntil')} <Time at={task.leasedUntil} />
            </>
          )}
        </p>
      ),
    })
  }
  if (task.state === 'scheduled' || task.state === 'ready') {
    add(values.planned_to, { kind: 'planned', title: say(Number(count) > 0 ? 'plannedAgain' : 'planned') })
  }
  const error = values.last_error
  const errorText =
    error !== null && error !== undefined && !task.attempts.some((one) => one.error !== null) ? (
      <FoldedText text={error} label={say('lastError')} />
    ) : undefined
  if (!known.has(count) || task.state === 'canceled') {
    add(values.finished_at, { kind: 'finished', title: say('finished') })
    add(values.failed_at, { kind: 'failed', title: say('failed'), body: errorText })
    add(values.canceled_at, {
      kind: 'canceled',
      title: say('canceled'),
      body: values.comment ? <p>{values.comment}</p> : undefined,
    })
  }
  entries.sort((one, other) => (parseTime(one.at)?.getTime() ?? 0) - (parseTime(other.at)?.getTime() ?? 0))
  if (errorText !== undefined && task.state !== 'failed') {
    entries.push({
      at: values.started_at ?? values.planned_to ?? '',
      kind: 'failed',
      title: say('lastError'),
      body: errorText,
    })
  }
  return entries

  function attemptEntry({
    attempt,
    workerId,
    startedAt,
    endedAt,
    outcome,
    error: text,
  }: TaskAttempt): Omit<TimelineEntry, 'at'> {
    const key = `outcome${outcome.charAt(0).toUpperCase()}${outcome.slice(1)}`
    const tookMs = (parseTime(endedAt)?.getTime() ?? 0) - (parseTime(startedAt)?.getTime() ?? 0)
    return {
      kind: outcome,
      title: `${say('attempt', { n: attempt })}: ${isTextKey(key) ? say(key) : outcome}`,
      body: (
        <>
          <p class="hint">
            {formatDuration(tookMs, language)}
            {workerId !== null && ` · ${say('byWorker', { worker: shortId(workerId) })}`}
          </p>
          {text !== null && <FoldedText text={text} label={`${type.table} ${say('attempt', { n: attempt })}`} />}
        </>
      ),
    }
  }
}
