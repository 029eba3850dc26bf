import type { WorkerLease, WorkerSessionInfo } from '@pg-tasks/sql'
import { useCallback } from 'preact/hooks'
import { formatDuration, shortId } from '../format.js'
import { useText } from '../i18n/use-text.js'
import { Empty } from '../parts/empty.js'
import { Link } from '../parts/link.js'
import { ProblemText } from '../parts/problem-text.js'
import { Scroll } from '../parts/scroll.js'
import { SessionTable } from '../parts/session-table.js'
import { Time } from '../parts/time.js'
import { useData } from '../state/use-data.js'

interface Running {
  readonly schema: string
  readonly table: string
  readonly workerId: string | null
  readonly running: number
  readonly oldestMs: number
}

interface WorkersAnswer {
  readonly leases: readonly WorkerLease[]
  readonly running: readonly Running[]
  readonly sessions: readonly WorkerSessionInfo[]
  /** How long the oldest task of each type has been due. */
  readonly lags: ReadonlyArray<{ readonly schema: string; readonly table: string; readonly oldestDueMs: number | null }>
}

const START = `import { Worker } from '@pg-tasks/client'

const worker = new Worker({ connectionString })
worker.add(new SendMail(), 4)
await worker.run()`

/** Who runs, what they hold, and who waits for work. */
export function WorkersPage() {
  const { say } = useText()
  const { value, error, reload } = useData<WorkersAnswer>(
    'workers',
    useCallback(() => true, []),
  )
  return (
    <>
      <h1>{say('workers')}</h1>
      {error !== undefined && <ProblemText error={error} onRetry={reload} />}
      {value !== undefined && value.leases.length === 0 && value.sessions.length === 0 && (
        <Empty title={say('noWorkers')} help={say('noWorkersHelp')} code={START} />
      )}
      {value !== undefined && (
        <>
          <Leases answer={value} />
          <section>
            <h2>{say('sessions')}</h2>
            {value.sessions.length === 0 ? (
              <p class="hint">{say('noSessions')}</p>
            ) : (
              <SessionTable sessions={value.sessions} />
            )}
          </section>
        </>
      )}
    </>
  )
}

function Leases({ answer }: { readonly answer: WorkersAnswer }) {
  const { say, language } = useText()
  const { leases, running } = answer
  const without = running.filter(({ workerId }) => workerId === null)
  if (leases.length === 0 && without.length === 0) return null
  const lagOf = (type: { readonly schema: string; readonly table: string }): number | null =>
    answer.lags.find(({ schema, table }) => schema === type.schema && table === type.table)?.oldestDueMs ?? null
  const held = (lease: WorkerLease): Running | undefined =>
    running.find((one) => one.workerId === lease.workerId && one.schema === lease.schema && one.table === lease.table)
  return (
    <section>
      <h2>{say('leases')}</h2>
      <Scroll label={say('leases')}>
        <table>
          <thead>
            <tr>
              <th scope="col">{say('worker')}</th>
              <th scope="col">{say('type')}</th>
              <th scope="col" class="right">
                {say('holds')}
              </th>
              <th scope="col" class="right">
                {say('longestRun')}
              </th>
              <th scope="col" class="right">
                {say('lag')}
              </th>
              <th scope="col">{say('leaseEnds')}</th>
              <th scope="col">{say('since')}</th>
            </tr>
          </thead>
          <tbody>
            {leases.map((lease) => (
              <tr key={`${lease.workerId} ${lease.schema} ${lease.table}`}>
                <th scope="row" class="mono" title={lease.workerId}>
                  {shortId(lease.workerId)}
                </th>
                <td>
                  <Link to={['types', lease.schema, lease.table]}>{lease.table}</Link>
                </td>
                <td class="right num">{held(lease)?.running ?? 0}</td>
                <td class="right num">{formatDuration(held(lease)?.oldestMs ?? null, language)}</td>
                <td class="right num">{formatDuration(lagOf(lease), language)}</td>
                <td>
                  {lease.remainingMs < 0 ? (
                    <span class="tag bad">{say('leaseEnded')}</span>
                  ) : (
                    <Time at={lease.leasedUntil} />
                  )}
                </td>
                <td>
                  <Time at={lease.openedAt} />
                </td>
              </tr>
            ))}
            {without.map((one) => (
              <tr key={`${one.schema} ${one.table}`}>
                <th scope="row" class="hint">
                  {say('withoutWorker')}
                </th>
                <td>
                  <Link to={['types', one.schema, one.table]}>{one.table}</Link>
                </td>
                <td class="right num">{one.running}</td>
                <td class="right num">{formatDuration(one.oldestMs, language)}</td>
                <td class="right num">{formatDuration(lagOf(one), language)}</td>
                <td />
                <td />
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  )
}
