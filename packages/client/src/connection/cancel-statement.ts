import { Socket } from 'node:net'
import type { Client } from 'pg'
import { startTimer } from '../timers/start-timer.js'

/** The code of PostgreSQL's CancelRequest, which stands where a startup packet has the protocol's version. */
const CANCEL_REQUEST = 80_877_102

/**
 * Asks the server to stop the statement that a client runs; never rejects. A server doesn't notice by itself that a socket was
 * closed while it computes or waits for a lock, and would go on, and commit, long after we have given the statement up.
 */
export function cancelStatement(client: Client, timeoutMs: number): Promise<void> {
  const { processID, secretKey } = client as { processID?: unknown; secretKey?: unknown }
  if (typeof processID !== 'number' || typeof secretKey !== 'number') return Promise.resolve()
  const request = Buffer.alloc(16)
  request.writeInt32BE(request.length, 0)
  request.writeInt32BE(CANCEL_REQUEST, 4)
  request.writeInt32BE(processID, 8)
  request.writeInt32BE(secretKey, 12)
  return new Promise((resolve) => {
    const socket = new Socket()
    const stopTimer = startTimer(timeoutMs, () => socket.destroy())
    socket.on('error', () => {})
    socket.once('close', () => {
      stopTimer()
      resolve()
    })
    socket.once('connect', () => socket.end(request))
    // The server closes the connection when it has passed the request on.
    socket.resume()
    if (client.host.startsWith('/')) socket.connect(`${client.host}/.s.PGSQL.${client.port}`)
    else socket.connect(client.port, client.host)
  })
}
