import { createStore } from './store.js'

/** A message about something that was just done. */
export interface Toast {
  readonly id: number
  readonly text: string
  readonly bad: boolean
}

const STAYS_MS = 6_000

export const toasts = createStore<readonly Toast[]>([])

let lastId = 0

export function toast(text: string, bad = false): void {
  lastId += 1
  const id = lastId
  toasts.set([...toasts.get(), { id, text, bad }])
  setTimeout(() => toasts.set(toasts.get().filter((one) => one.id !== id)), bad ? 2 * STAYS_MS : STAYS_MS)
}
