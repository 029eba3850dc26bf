/** Whether notifications arrive. */
export type ListenerState = 'idle' | 'connecting' | 'listening' | 'not_delivering' | 'closed'

/** What a listener knows about itself. */
export interface ListenerStatus {
  readonly state: ListenerState
  /** Whether notifications arrive, as far as the last ping has shown. */
  readonly listening: boolean
  /**
   * Whether a notification from another session was seen to arrive in this one, which shows that the connection is direct.
   * While `listening`, false only where a second connection, which that takes, couldn't be made.
   */
  readonly proven: boolean
  /** When a ping last came back; the local wall clock, for people. */
  readonly lastPingAt: Date | undefined
  /** How often it has begun to listen again after the first time. */
  readonly reconnects: number
  /** `host:port` of the server, while there is a session. */
  readonly server: string | undefined
}
