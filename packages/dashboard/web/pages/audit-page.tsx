import type { WrittenAuditEntry } from '@pg-tasks/sql'
import { useCallback } from 'preact/hooks'
import { useText } from '../i18n/use-text.js'
import { Empty } from '../parts/empty.js'
import { ProblemText } from '../parts/problem-text.js'
import { Scroll } from '../parts/scroll.js'
import { Time } from '../parts/time.js'
import { goWith, usePlace } from '../state/router.js'
import { useData } from '../state/use-data.js'

/** Who did what, newest first. */
export function AuditPage() {
  const { say } = useText()
  const { query } = usePlace()
  const before = query.get('before')
  const path = before === null ? 'audit' : `audit?before=${encodeURIComponent(before)}`
  const { value, error, reload } = useData<{ readonly entries: readonly WrittenAuditEntry[]; readonly more: boolean }>(
    path,
    useCallback(() => before === null, [before]),
  )
  const last = value?.entries.at(-1)
  return (
    <>
      <h1>{say('audit')}</h1>
      {error !== undefined && <ProblemText error={error} onRetry={reload} />}
      {value !== undefined && value.entries.length === 0 && <Empty title={say('noAudit')} help={say('noAuditHelp')} />}
      {value !== undefined && value.entries.length > 0 && (
        <>
          <Scroll label={say('audit')}>
            <table>
              <thead>
                <tr>
                  <th scope="col">{say('when')}</th>
                  <th scope="col">{say('who')}</th>
                  <th scope="col">{say('what')}</th>
                  <th scope="col">{say('whichTable')}</th>
                  <th scope="col">{say('which')}</th>
                  <th scope="col" class="right">
                    {say('howMany')}
                  </th>
                  <th scope="col">{say('details')}</th>
                </tr>
              </thead>
              <tbody>
                {value.entries.map((entry) => (
                  <tr key={entry.id}>
                    <td>
                      <Time at={entry.actedAt} />
                    </td>
                    <td>
                      {entry.actor} <span class="hint">{entry.roleName}</span>
                    </td>
                    <td>
                      <code>{entry.action}</code>
                    </td>
                    <td>{entry.table ?? '–'}</td>
                    <td>{entry.target ?? '–'}</td>
                    <td class="right num">{entry.affected}</td>
                    <td class="mono">{entry.details === null ? '' : JSON.stringify(entry.details)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
          <div class="pages">
            {before !== null && (
              <button type="button" onClick={() => goWith((next) => next.delete('before'))}>
                {say('firstPage')}
              </button>
            )}
            {value.more && last !== undefined && (
              <button type="button" onClick={() => goWith((next) => next.set('before', last.id))}>
                {say('older')}
              </button>
            )}
          </div>
        </>
      )}
    </>
  )
}
