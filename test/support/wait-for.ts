import type { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'

export interface WaitOptions {
  /** @defaultValue 5_000 */
  readonly timeoutMs?: number
  /** What is waited for, for the message of a failure. */
  readonly what?: string
}

const LOOK_EVERY_MS = 10
const TIMEOUT_MS = 5_000

/**
 * Looks until the condition gives something truthy, and returns that. For what tells nobody that it has happened, such as
 * rows in a database; where there is an event, wait for the event.
 */
export async function waitFor<T>(condition: () => T | Promise<T>, options: WaitOptions = {}): Promise<NonNullable<T>> {
  const { timeoutMs = TIMEOUT_MS, what = condition.toString() } = options
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const value = await condition()
    if (value) return value
    if (performance.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain for: ${what}`)
    await delay(LOOK_EVERY_MS)
  }
}

/** Waits for one event and returns its arguments. Call it before doing what leads to the event. */
export async function waitForEvent<T extends unknown[] = unknown[]>(
  emitter: EventEmitter,
  event: string,
  { timeoutMs = TIMEOUT_MS, what = `the event ${event}` }: WaitOptions = {},
): Promise<T> {
  let listener: (...args: unknown[]) => void = () => {}
  const arrived = new Promise<T>((resolve) => {
    listener = (...args) => resolve(args as T)
  })
  // Not events.once(), which fails at an error event, and that is often what comes before the awaited one.
  emitter.once(event, listener)
  try {
    return await within(arrived, { timeoutMs, what })
  } finally {
    emitter.off(event, listener)
  }
}

/** The promise's result, if it comes in time. */
export async function within<T>(promise: Promise<T>, options: WaitOptions = {}): Promise<T> {
  const { timeoutMs = TIMEOUT_MS, what = 'a promise' } = options
  const stop = new AbortController()
  const late = delay(timeoutMs, undefined, { signal: stop.signal }).then(
    () => {
      throw new Error(`Waited ${timeoutMs} ms in vain for: ${what}`)
    },
    // Aborted, because the promise was in time.
    () => promise,
  )
  try {
    return await Promise.race([promise, late])
  } finally {
    stop.abort()
  }
}
