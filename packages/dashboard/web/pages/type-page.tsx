import type { Durations, TaskCounts, TaskPage, TaskState, TypeOverview } from '@pg-tasks/sql'
import { useCallback } from 'preact/hooks'
import type { ShownColumn } from '../../server/column-rules.js'
import { useText } from '../i18n/use-text.js'
import { TypeCharts } from '../parts/chart/type-charts.js'
import { Link } from '../parts/link.js'
import { ProblemText } from '../parts/problem-text.js'
import { BulkMenu } from '../parts/task/bulk-menu.js'
import { ColumnPicker } from '../parts/task/column-picker.js'
import { FilterBar } from '../parts/task/filter-bar.js'
import { StateTabs } from '../parts/task/state-tabs.js'
import { TaskTable } from '../parts/task/task-table.js'
import { TypeActions } from '../parts/type/type-actions.js'
import { TypeSettings } from '../parts/type/type-settings.js'
import { useSession } from '../parts/use-session.js'
import { pathOf } from '../state/api.js'
import type { LiveEvent } from '../state/live.js'
import { usePlace } from '../state/router.js'
import { useData } from '../state/use-data.js'

/** What the server tells of a type. */
export interface TypeAnswer {
  readonly type: TypeOverview
  readonly columns: readonly ShownColumn[]
  readonly counts: TaskCounts | null
  readonly durations: Durations | null
  /** An INSERT to begin with. */
  readonly example: string
}

/** Query keys that choose tasks; the others are how they are shown. */
const CHOOSING = ['state', 'filter', 'order'] as const

/** A task type: its figures, its tasks, what can be done with it. */
export function TypePage({ schema, table }: { readonly schema: string; readonly table: string }) {
  const { say } = useText()
  const { query } = usePlace()
  const session = useSession()
  const concerns = useCallback(
    (event: LiveEvent) => event?.some((type) => type.schema === schema && type.table === table) ?? false,
    [schema, table],
  )
  const path = `types/${pathOf(schema, table)}`
  const selection = choosing(query)
  const after = query.get('after')
  const listed = new URLSearchParams(selection)
  if (after !== null) listed.set('after', after)
  const answer = useData<TypeAnswer>(path, concerns)
  const page = useData<TaskPage>(`${path}/tasks?${listed}`, concerns)
  const { value } = answer
  const mayAct = value?.type.mayWrite === true && session?.readOnly === false
  const state = (query.get('state') ?? undefined) as TaskState | undefined
  const reload = (): void => {
    answer.reload()
    page.reload()
  }
  return (
    <>
      <div class="heading">
        <nav class="crumbs" aria-label={say('overview')}>
          <Link to={[]}>{say('overview')}</Link>
        </nav>
        <h1>
          {schema !== 'tasks' && <span class="schema">{schema}.</span>}
          {table}
          {value !== undefined && value.type.pausedAt !== null && <span class="tag warn">{say('paused')}</span>}
        </h1>
        {value !== undefined && mayAct && <TypeActions answer={value} onDone={reload} />}
      </div>
      {answer.error !== undefined && <ProblemText error={answer.error} onRetry={reload} />}
      <TypeCharts path={path} deletesAtFinish={value?.type.storageMs === 0} />
      <section>
        <StateTabs counts={value?.counts ?? undefined} current={state} />
        {value !== undefined && (
          <div class="toolbar">
            <FilterBar columns={value.columns} />
            <div class="tools">
              <ColumnPicker columns={value.columns} />
              {mayAct && <BulkMenu path={path} selection={selection} state={state} onDone={reload} />}
            </div>
          </div>
        )}
        {page.error !== undefined && <ProblemText error={page.error} onRetry={page.reload} />}
        {value !== undefined && page.error === undefined && (
          <TaskTable answer={value} page={page.value} loading={page.loading} />
        )}
      </section>
      {value !== undefined && <TypeSettings type={value.type} />}
    </>
  )
}

/** The part of the query that chooses tasks. */
function choosing(query: URLSearchParams): URLSearchParams {
  const chosen = new URLSearchParams()
  for (const key of CHOOSING) for (const value of query.getAll(key)) chosen.append(key, value)
  return chosen
}
