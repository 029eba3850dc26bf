import { createStore, useStore } from './store.js'

/** The path under which the dashboard is mounted, with a slash at the end. */
export const BASE = new URL(document.baseURI).pathname

/** Where the page is: segments after the base, decoded, and the query. */
export interface Place {
  readonly segments: readonly string[]
  readonly query: URLSearchParams
}

const place = createStore<Place>(here())

window.addEventListener('popstate', () => place.set(here()))

export function usePlace(): Place {
  return useStore(place)
}

/** The address of a place. */
export function addressOf(segments: readonly string[], query?: URLSearchParams): string {
  const search = query?.toString() ?? ''
  return BASE + segments.map(encodeURIComponent).join('/') + (search === '' ? '' : `?${search}`)
}

/** Goes to an address of the dashboard; with `replace`, without a step in the history. */
export function go(address: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const samePath = new URL(address, location.origin).pathname === location.pathname
  if (replace) history.replaceState(null, '', address)
  else history.pushState(null, '', address)
  place.set(here())
  if (!samePath) {
    window.scrollTo(0, 0)
    document.getElementById('main')?.focus({ preventScroll: true })
  }
}

/** The same place with another query. */
export function goWith(change: (query: URLSearchParams) => void, options?: { readonly replace?: boolean }): void {
  const { segments, query } = place.get()
  const next = new URLSearchParams(query)
  change(next)
  go(addressOf(segments, next), options)
}

function here(): Place {
  const path = location.pathname.startsWith(BASE) ? location.pathname.slice(BASE.length) : ''
  return {
    segments: path
      .split('/')
      .filter((part) => part !== '')
      .map(decoded),
    query: new URLSearchParams(location.search),
  }
}

/** An address that somebody typed may have a percent sign that means nothing. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
