import type { Announcements } from './announcements.js'
import type { Overview, OverviewType } from './overview.js'

/** Keeps connections open that would otherwise be taken for idle, in milliseconds. */
const KEEP_ALIVE_MS = 15_000

/** Announcements of one moment are answered together, in milliseconds. */
const TOGETHER_MS = 250

type Send = (event: string, data: unknown) => void

/**
 * Server-sent events: while somebody looks, the figures are read at intervals, and sooner when something is announced; types whose
 * figures have changed are sent to all.
 */
export class Live {
  readonly #overview: Overview
  readonly #announcements: Announcements
  readonly #viewers = new Map<symbol, { readonly send: Send; readonly end: () => void }>()
  readonly #sent = new Map<string, string>()
  #timer: NodeJS.Timeout | undefined
  #due = 0
  #refreshing = false
  #lastMs = 0
  #ticks = 0

  constructor(overview: Overview, announcementsTo: (onAnnounced: () => void) => Announcements) {
    this.#overview = overview
    this.#announcements = announcementsTo(() => this.#hurry())
  }

  /** A response that lasts as long as the viewer stays. */
  stream(): Response {
    const id = Symbol('viewer')
    const encoder = new TextEncoder()
    let keepAlive: NodeJS.Timeout
    const leave = (): void => {
      clearInterval(keepAlive)
      this.#leave(id)
    }
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const write = (text: string): void => {
          try {
            controller.enqueue(encoder.encode(text))
          } catch {
            leave()
          }
        }
        write('retry: 2000\n\n')
        keepAlive = setInterval(() => write(': \n\n'), KEEP_ALIVE_MS)
        const send: Send = (event, data) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
        this.#join(id, send, () => {
          clearInterval(keepAlive)
          controller.close()
        })
      },
      cancel: leave,
    })
    return new Response(body, {
      headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
    })
  }

  /** Reads and sends at once, after an action. */
  changed(): void {
    this.#hurry()
  }

  async close(): Promise<void> {
    this.#unplan()
    for (const { end } of this.#viewers.values()) {
      try {
        end()
      } catch {
        // It left by itself.
      }
    }
    this.#viewers.clear()
    await this.#announcements.stop()
  }

  #join(id: symbol, send: Send, end: () => void): void {
    this.#viewers.set(id, { send, end })
    this.#announcements.start()
    if (this.#viewers.size === 1) this.#plan(this.#overview.intervalMs)
  }

  #leave(id: symbol): void {
    this.#viewers.delete(id)
    if (this.#viewers.size > 0) return
    this.#unplan()
    void this.#announcements.stop()
  }

  #hurry(): void {
    if (this.#viewers.size === 0) return
    const since = performance.now() - this.#lastMs
    this.#plan(Math.max(TOGETHER_MS, this.#overview.intervalMs / 4 - since))
  }

  #plan(inMs: number): void {
    const due = performance.now() + inMs
    if (this.#timer !== undefined && this.#due <= due) return
    this.#unplan()
    this.#due = due
    this.#timer = setTimeout(() => void this.#refresh(), inMs)
    this.#timer.unref()
  }

  #unplan(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  async #refresh(): Promise<void> {
    this.#timer = undefined
    if (this.#refreshing || this.#viewers.size === 0) return
    this.#refreshing = true
    try {
      const types = await this.#overview.types(undefined, 0)
      const changed = types.filter((type) => this.#isNew(type))
      this.#ticks += 1
      this.#send('tick', { tick: this.#ticks })
      if (changed.length > 0) this.#send('types', changed)
    } catch {
      this.#send('away', {})
    } finally {
      this.#refreshing = false
      this.#lastMs = performance.now()
      if (this.#viewers.size > 0) this.#plan(this.#overview.intervalMs)
    }
  }

  #send(event: string, data: unknown): void {
    for (const { send } of this.#viewers.values()) send(event, data)
  }

  /** Ages change by themselves and the page counts them on; but for them, the same figures are sent once. */
  #isNew(type: OverviewType): boolean {
    const key = `${type.schema}.${type.table}`
    const { figures, ...rest } = type
    const text = JSON.stringify([
      rest,
      figures && { ...figures, oldestDueMs: figures.oldestDueMs !== null, nextDueMs: null },
    ])
    if (this.#sent.get(key) === text) return false
    this.#sent.set(key, text)
    return true
  }
}
