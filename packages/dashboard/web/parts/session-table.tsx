import type { WorkerSessionInfo } from '@pg-tasks/sql'
import { useText } from '../i18n/use-text.js'
import { Link } from './link.js'
import { Scroll } from './scroll.js'
import { Time } from './time.js'

/** Sessions that take part in the wake-ups, with the types that they wait for. */
export function SessionTable({ sessions }: { readonly sessions: readonly WorkerSessionInfo[] }) {
  const { say } = useText()
  const byPid = new Map<number, WorkerSessionInfo[]>()
  for (const session of sessions) byPid.set(session.pid, [...(byPid.get(session.pid) ?? []), session])
  return (
    <Scroll label={say('sessions')}>
      <table>
        <thead>
          <tr>
            <th scope="col">{say('session')}</th>
            <th scope="col">{say('role')}</th>
            <th scope="col">{say('address')}</th>
            <th scope="col">{say('since')}</th>
            <th scope="col">{say('waitsFor')}</th>
          </tr>
        </thead>
        <tbody>
          {[...byPid].map(([pid, ofPid]) => {
            const [first] = ofPid
            return (
              <tr key={pid}>
                <th scope="row">
                  {first?.applicationName} <span class="hint num">{pid}</span>
                </th>
                <td>{first?.role}</td>
                <td class="mono">{first?.address ?? '–'}</td>
                <td>
                  <Time at={first?.since ?? null} />
                </td>
                <td>
                  {ofPid.map(({ schema, table, state }) => (
                    <div key={`${schema}.${table}.${state}`}>
                      <Link to={['types', schema, table]}>{table}</Link> <span class="hint">{say(state)}</span>
                    </div>
                  ))}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </Scroll>
  )
}
