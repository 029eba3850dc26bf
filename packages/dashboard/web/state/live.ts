import { useEffect } from 'preact/hooks'
import type { OverviewType } from '../../server/overview.js'
import { get } from './api.js'
import { BASE } from './router.js'
import { createStore } from './store.js'

/** What the server sends: types whose figures have changed; `null` for a tick, at which anything may have. */
export type LiveEvent = readonly OverviewType[] | null

/** How fresh the page is. */
export type Freshness = 'connecting' | 'live' | 'away'

export const freshness = createStore<Freshness>('connecting')

const listeners = new Set<(event: LiveEvent) => void>()

/** The wait before a stream that the browser has given up is opened again, in milliseconds. */
const AGAIN_MS = 3_000

/**
 * Keeps a stream open while the page is seen. A hidden one has none: a browser makes six connections to a server over HTTP/1.1, and
 * streams of hidden tabs would leave none to the tab that is looked at.
 */
export function startLive(): () => void {
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const close = (): void => {
    clearTimeout(timer)
    source?.close()
    source = undefined
  }
  const open = (): void => {
    close()
    source = openStream(() => {
      // Whose session has ended is sent to the sign-in by this.
      timer = setTimeout(
        () =>
          void get('session')
            .catch(() => {})
            .then(onVisibility),
        AGAIN_MS,
      )
    })
  }
  const onVisibility = (): void => {
    if (document.hidden) close()
    else if (source === undefined || source.readyState === EventSource.CLOSED) open()
  }
  document.addEventListener('visibilitychange', onVisibility)
  onVisibility()
  return () => {
    document.removeEventListener('visibilitychange', onVisibility)
    close()
  }
}

/** @param onGivenUp - the browser opens a stream again that breaks, but none that is refused, as by a proxy that waits for us */
function openStream(onGivenUp: () => void): EventSource {
  const source = new EventSource(`${BASE}api/events`)
  source.addEventListener('open', () => freshness.set('live'))
  source.addEventListener('error', () => {
    freshness.set('away')
    if (source.readyState === EventSource.CLOSED) onGivenUp()
  })
  source.addEventListener('away', () => freshness.set('away'))
  source.addEventListener('tick', () => {
    freshness.set('live')
    tell(null)
  })
  source.addEventListener('types', (event) => tell(JSON.parse((event as MessageEvent<string>).data) as LiveEvent))
  return source
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
