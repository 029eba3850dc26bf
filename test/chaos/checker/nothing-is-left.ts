import type { Evidence, Violation } from './evidence.js'

/** No session, lock, lease or file of ours outlives the workers. */
export function nothingIsLeft({ remains }: Evidence): Violation[] {
  return remains.found.map((message) => ({ check: 'nothing is left', message }))
}
