import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Client } from 'pg'
import type { ClientConfig } from './connection-options.js'
import { guardTypes } from './guard-types.js'

/** A client that is not connected yet, and the way to cut it off. */
export interface CreatedClient {
  readonly client: Client
  /** Closes the socket at once, whatever it is doing; nothing is left that waits for the other side. */
  readonly destroy: () => void
}

/**
 * Makes a client that can't end the process: it always has an `error` listener.
 *
 * @param applicationName - how the session is called in pg_stat_activity, unless the configuration names it
 */
export function createClient(config: ClientConfig, applicationName: string): CreatedClient {
  const { config: captured, destroy } = captureStream(config)
  const client = new Client({
    keepAliveInitialDelayMillis: 10_000,
    ...captured,
    keepAlive: true,
    types: guardTypes(captured.types),
    // As fallback, so that a name in the URL, in the config or in PGAPPNAME is left alone.
    fallback_application_name: applicationName,
  })
  client.on('error', () => {})
  return { client, destroy }
}

/**
 * Gives the configuration a stream that we know too. `client.end()` waits for the other side, for ever if it is silent; and
 * a client made by someone else (pg-listen) can't be reached otherwise.
 */
export function captureStream(config: ClientConfig): { readonly config: ClientConfig; readonly destroy: () => void } {
  const streams = new Set<Duplex>()
  const { stream: given } = config
  const stream = (): Duplex => {
    const made = given?.() ?? new Socket()
    streams.add(made)
    made.once('close', () => streams.delete(made))
    return made
  }
  const destroy = (): void => {
    for (const made of streams) made.destroy()
  }
  return { config: { ...config, stream }, destroy }
}
