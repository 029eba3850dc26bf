import { useEffect } from 'preact/hooks'
import type { OverviewType } from '../../server/overview.js'
import { BASE } from './router.js'
import { createStore } from './store.js'

/** What the server sends: types whose figures have changed; `null` for a tick, at which anything may have. */
export type LiveEvent = readonly OverviewType[] | null

/** How fresh the page is. */
export type Freshness = 'connecting' | 'live' | 'away'

export const freshness = createStore<Freshness>('connecting')

const listeners = new Set<(event: LiveEvent) => void>()

/** Opens the stream; the browser opens it again whenever it breaks. */
export function startLive(): () => void {
  const source = new EventSource(`${BASE}api/events`)
  source.addEventListener('open', () => freshness.set('live'))
  source.addEventListener('error', () => freshness.set('away'))
  source.addEventListener('away', () => freshness.set('away'))
  source.addEventListener('tick', () => {
    freshness.set('live')
    tell(null)
  })
  source.addEventListener('types', (event) => tell(JSON.parse((event as MessageEvent<string>).data) as LiveEvent))
  return () => source.close()
}

function tell(event: LiveEvent): void {
  for (const listener of listeners) listener(event)
}

/** Calls back at each event. */
export function useLive(listener: (event: LiveEvent) => void): void {
  useEffect(() => {
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
    }
  }, [listener])
}
