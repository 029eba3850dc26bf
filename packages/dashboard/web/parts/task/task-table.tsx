import type { TaskCursor, TaskPage } from '@pg-tasks/sql'
import type { ShownColumn } from '../../../server/column-rules.js'
import { useText } from '../../i18n/use-text.js'
import type { TypeAnswer } from '../../pages/type-page.js'
import { goWith, usePlace } from '../../state/router.js'
import { Empty } from '../empty.js'
import { Link } from '../link.js'
import { Scroll } from '../scroll.js'
import { Value } from '../value.js'
import { StateBadge } from './state-badge.js'
import { visibleColumns } from './visible-columns.js'

interface TaskTableProps {
  readonly answer: TypeAnswer
  readonly page: TaskPage | undefined
  readonly loading: boolean
}

/** A page of tasks with the type's columns. */
export function TaskTable({ answer, page, loading }: TaskTableProps) {
  const { say } = useText()
  const { query } = usePlace()
  const { type } = answer
  const columns = visibleColumns(answer.columns, query)
  const path = ['types', type.schema, type.table]
  if (page !== undefined && page.tasks.length === 0 && page.next === null && query.get('after') === null) {
    return <NoTasks answer={answer} />
  }
  return (
    <>
      <Scroll label={say('tasksTable')} busy={loading}>
        <table class="tasks">
          <thead>
            <tr>
              <Heading column={answer.columns.find(({ name }) => name === 'id')} />
              <th scope="col">{say('state')}</th>
              {columns.map((column) => (
                <Heading key={column.name} column={column} />
              ))}
            </tr>
          </thead>
          <tbody>
            {page === undefined && <Waiting columns={columns.length + 2} />}
            {page?.tasks.map((task) => (
              <tr key={task.id}>
                <th scope="row">
                  <Link to={[...path, task.id]} class="num">
                    {task.id}
                  </Link>
                </th>
                <td>
                  <StateBadge state={task.state} held={task.held} />
                </td>
                {columns.map((column) => (
                  <td key={column.name} class={column.family === 'number' ? 'right' : undefined}>
                    <Value column={column} value={task.values[column.name]} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {page !== undefined && <Pages page={page} />}
    </>
  )
}

function Waiting({ columns }: { readonly columns: number }) {
  return (
    <tr class="waiting">
      <td colSpan={columns}>
        <span class="hidden">…</span>
      </td>
    </tr>
  )
}

/** The name and the type of a column; a button where an index gives its order. */
function Heading({ column }: { readonly column: ShownColumn | undefined }) {
  const { say } = useText()
  const { query } = usePlace()
  if (column === undefined) return <th scope="col">id</th>
  const { name, type, sortable, family } = column
  const order = query.get('order')
  const direction = order === name ? 'ascending' : order === `-${name}` ? 'descending' : undefined
  const sort = (): void => {
    goWith((next) => {
      next.delete('after')
      if (direction === 'ascending') next.delete('order')
      else next.set('order', direction === 'descending' ? name : `-${name}`)
    })
  }
  return (
    <th scope="col" aria-sort={direction} class={family === 'number' ? 'right' : undefined}>
      {sortable ? (
        <button type="button" class="sort" title={say('sortBy', { column: name })} onClick={sort}>
          {name}{' '}
          <span aria-hidden="true">{direction === 'ascending' ? '↑' : direction === 'descending' ? '↓' : '↕'}</span>
        </button>
      ) : (
        name
      )}
      <span class="type">{type.replace('timestamp with time zone', 'timestamptz')}</span>
    </th>
  )
}

/** A page goes on behind its last task, so there are no numbers of pages. */
function Pages({ page }: { readonly page: TaskPage }) {
  const { say, language } = useText()
  const { query } = usePlace()
  const { next, searched } = page
  const goAfter = (cursor: TaskCursor | null): void => {
    goWith((changed) => {
      if (cursor === null) changed.delete('after')
      else changed.set('after', JSON.stringify([cursor.key, cursor.id]))
    })
  }
  return (
    <div class="pages">
      {searched !== null && <p role="status">{say('searchedSome', { n: searched.toLocaleString(language) })}</p>}
      {query.get('after') !== null && (
        <button type="button" onClick={() => goAfter(null)}>
          {say('firstPage')}
        </button>
      )}
      {next !== null && (
        <button type="button" onClick={() => goAfter(next)}>
          {say(searched === null ? 'nextPage' : 'searchOn')}
        </button>
      )}
    </div>
  )
}

function NoTasks({ answer }: { readonly answer: TypeAnswer }) {
  const { say } = useText()
  const { query } = usePlace()
  const state = query.get('state')
  if (query.getAll('filter').length > 0) {
    return (
      <Empty title={say('noTasksFiltered')}>
        <button type="button" onClick={() => goWith((next) => next.delete('filter'))}>
          {say('clearFilters')}
        </button>
      </Empty>
    )
  }
  if (state !== null) return <Empty title={say('noTasksInState', { state: say(state as 'ready') })} />
  return <Empty title={say('noTasks')} help={say('noTasksHelp')} code={answer.example} />
}
