import type { TaskDetails, TypeOverview } from '@pg-tasks/sql'
import { useCallback } from 'preact/hooks'
import type { ShownColumn } from '../../server/column-rules.js'
import { useText } from '../i18n/use-text.js'
import { FoldedText } from '../parts/folded-text.js'
import { Link } from '../parts/link.js'
import { ProblemText } from '../parts/problem-text.js'
import { StateBadge } from '../parts/task/state-badge.js'
import { TaskActions } from '../parts/task/task-actions.js'
import { TaskTimeline } from '../parts/task/task-timeline.js'
import { useSession } from '../parts/use-session.js'
import { Value } from '../parts/value.js'
import { pathOf } from '../state/api.js'
import type { LiveEvent } from '../state/live.js'
import { useData } from '../state/use-data.js'

/** What the server tells of a task. */
export interface TaskAnswer {
  readonly type: TypeOverview
  readonly columns: readonly ShownColumn[]
  readonly task: TaskDetails
}

/** One task: everything about it, and what can be done. */
export function TaskPage({
  schema,
  table,
  id,
}: {
  readonly schema: string
  readonly table: string
  readonly id: string
}) {
  const { say } = useText()
  const session = useSession()
  const concerns = useCallback(
    (event: LiveEvent) => event?.some((type) => type.schema === schema && type.table === table) ?? false,
    [schema, table],
  )
  const { value, error, reload } = useData<TaskAnswer>(`types/${pathOf(schema, table)}/tasks/${pathOf(id)}`, concerns)
  const mayAct = value?.type.mayWrite === true && session?.readOnly === false
  return (
    <>
      <div class="heading">
        <nav class="crumbs" aria-label={say('overview')}>
          <Link to={[]}>{say('overview')}</Link>
          <span aria-hidden="true">/</span>
          <Link to={['types', schema, table]}>{table}</Link>
        </nav>
        <h1>
          {say('task')} <span class="num">{id}</span>{' '}
          {value !== undefined && <StateBadge state={value.task.state} held={value.task.held} />}
        </h1>
        {value !== undefined && mayAct && error === undefined && <TaskActions answer={value} onDone={reload} />}
      </div>
      {error !== undefined && <ProblemText error={error} onRetry={reload} />}
      {value !== undefined && error === undefined && (
        <div class="task-grid">
          <div>
            <Columns title={say('ownColumns')} answer={value} template={false} />
            <Columns title={say('queueColumns')} answer={value} template={true} />
          </div>
          <TaskTimeline answer={value} />
        </div>
      )}
    </>
  )
}

interface ColumnsProps {
  readonly title: string
  readonly answer: TaskAnswer
  readonly template: boolean
}

/** Columns with their types and values; long ones folded. */
function Columns({ title, answer, template }: ColumnsProps) {
  const columns = answer.columns.filter((column) => column.template === template)
  if (columns.length === 0) return null
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <dl class="columns">
        {columns.map((column) => {
          const value = answer.task.values[column.name]
          const long =
            !column.masked && value !== null && value !== undefined && (value.length > 80 || value.includes('\n'))
          return (
            <div key={column.name} class={long ? 'long' : undefined}>
              <dt>
                {column.name} <span class="type">{column.type.replace('timestamp with time zone', 'timestamptz')}</span>
              </dt>
              <dd>
                {long ? (
                  <FoldedText text={pretty(value, column)} label={column.name} />
                ) : (
                  <Value column={column} value={value} />
                )}
              </dd>
            </div>
          )
        })}
      </dl>
    </section>
  )
}

function pretty(value: string, { family }: ShownColumn): string {
  if (family !== 'json') return value
  try {
    return JSON.stringify(JSON.parse(value), null, 2)
  } catch {
    return value
  }
}
