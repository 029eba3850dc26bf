import { type AcquireMessage, acquireChannel } from '../../events/channels.js'

/** Tells the subscribers of `pg-tasks:acquire`, if there are any. */
export function traceAcquire<Row>(message: AcquireMessage, acquire: () => Promise<Row[]>): Promise<Row[]> {
  return acquireChannel.hasSubscribers ? acquireChannel.tracePromise(acquire, message) : acquire()
}
