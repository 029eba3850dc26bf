import type { ConnectionSource } from '../connection/connection-source.js'
import { Subscription, type SubscriptionOptions } from './subscription.js'

/** Listens on the first server of the source that allows it: a standby refuses LISTEN. */
export async function openSubscription(source: ConnectionSource, options: SubscriptionOptions): Promise<Subscription> {
  let failure: unknown
  for (const server of source.servers) {
    try {
      const subscription = await Subscription.open(server, options)
      source.succeeded(server)
      return subscription
    } catch (error) {
      failure = error
      source.failed(server)
    }
  }
  throw failure
}
