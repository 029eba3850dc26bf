import type { HandledOccurrence } from '@pg-tasks/sql'
import { isTextKey, useText } from '../../i18n/use-text.js'
import { Duration } from '../duration.js'
import { Link } from '../link.js'
import { Scroll } from '../scroll.js'
import { Time } from '../time.js'

interface OccurrenceTableProps {
  readonly history: readonly HandledOccurrence[]
  readonly schema: string
  readonly table: string
}

/** The ledger of a schedule. */
export function OccurrenceTable({ history, schema, table }: OccurrenceTableProps) {
  const { say } = useText()
  if (history.length === 0) return <p class="hint">{say('noOccurrences')}</p>
  const word = (key: string): string => (isTextKey(key) ? say(key) : key)
  return (
    <Scroll label={say('occurrenceHistory')}>
      <table>
        <thead>
          <tr>
            <th scope="col">{say('when')}</th>
            <th scope="col">{say('how')}</th>
            <th scope="col">{say('outcome')}</th>
            <th scope="col" class="right">
              {say('lag')}
            </th>
            <th scope="col" class="right">
              {say('task')}
            </th>
          </tr>
        </thead>
        <tbody>
          {history.map(({ occurrenceAt, trigger, outcome, lagMs, taskId }) => (
            <tr key={occurrenceAt}>
              <td>
                <Time at={occurrenceAt} />
              </td>
              <td>{word(`by${trigger}`)}</td>
              <td>{word(outcome === 'enqueued' ? 'enqueuedOutcome' : outcome)}</td>
              <td class="right">
                <Duration ms={lagMs} />
              </td>
              <td class="right">{taskId !== null && <Link to={['types', schema, table, taskId]}>{taskId}</Link>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
