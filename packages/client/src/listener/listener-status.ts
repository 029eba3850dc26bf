/** Whether notifications arrive. */
export type ListenerState = 'idle' | 'connecting' | 'listening' | 'not_delivering' | 'closed'

/** What a listener knows about itself. */
export interface ListenerStatus {
  readonly state: ListenerState
  /** Whether notifications arrive, as far as the last ping has shown. */
  readonly listening: boolean
  /** When a ping last came back; the local wall clock, for people. */
  readonly lastPingAt: Date | undefined
  /** How often it has begun to listen again after the first time. */
  readonly reconnects: number
  /** `host:port` of the server, while there is a session. */
  readonly server: string | undefined
}
