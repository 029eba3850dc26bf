import type { ListenerOptions } from './listener-options.js'

/** Whether notifications arrive. */
export type ListenerState = 'idle' | 'connecting' | 'listening' | 'not_delivering' | 'closed'

/** What a listener knows about itself. */
export interface ListenerStatus {
  readonly state: ListenerState
  /** Whether notifications arrive, as far as the last ping has shown. */
  readonly listening: boolean
  /** When a ping last came back; the local wall clock, for people. */
  readonly lastPingAt: Date | undefined
  /** Sessions after the first that were connected. */
  readonly reconnects: number
  /** `host:port` of the server, while there is a session. */
  readonly server: string | undefined
}

export class Listener {
  constructor(_options: ListenerOptions) {}

  get status(): ListenerStatus {
    throw new Error('not yet')
  }

  /** Begins to listen, for ever. Resolves after the first attempt: true if notifications arrive. Never rejects. */
  start(): Promise<boolean> {
    throw new Error('not yet')
  }

  /** Ends the session and every attempt; no callback is called any more, and nothing is left open. */
  close(): Promise<void> {
    throw new Error('not yet')
  }
}
