import type { TypeOverview } from '@pg-tasks/sql'
import { formatDuration } from '../../format.js'
import { useText } from '../../i18n/use-text.js'
import { Time } from '../time.js'

/** How a type is registered and limited. */
export function TypeSettings({ type }: { readonly type: TypeOverview }) {
  const { say, language } = useText()
  const duration = (ms: number | null, otherwise: string): string =>
    ms === null ? otherwise : formatDuration(ms, language)
  const rows: Array<readonly [string, string]> = [
    [say('lease'), duration(type.timeoutMs, say('endless'))],
    [say('retries'), type.maxRetries === null ? say('endless') : String(type.maxRetries)],
    [say('backoff'), `${duration(type.backoffBaseMs, '')} – ${duration(type.backoffMaxMs, '')}`],
    [say('storage'), duration(type.storageMs, say('forever'))],
    [say('runLimit'), duration(type.runLimitMs, say('none'))],
    [say('notifications'), say(type.notify ? 'on' : 'off')],
    [say('history'), duration(type.historyMs, say('off'))],
    [say('concurrency'), type.concurrency === null ? say('unlimited') : String(type.concurrency)],
    [say('rate'), type.rateCount === null ? say('unlimited') : `${type.rateCount} / ${duration(type.ratePerMs, '')}`],
    [
      say('keys'),
      type.keyColumns === null ? say('none') : `${type.keyColumns.join(', ')} (${type.keyConcurrency ?? 1})`,
    ],
    [say('onFailure'), type.onFailure ?? say('none')],
  ]
  return (
    <section aria-labelledby="settings">
      <h2 id="settings">{say('settings')}</h2>
      <dl class="facts">
        {type.pausedAt !== null && (
          <div>
            <dt>{say('pausedSince')}</dt>
            <dd>
              <Time at={type.pausedAt} /> {type.pausedReason}
            </dd>
          </div>
        )}
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
