import { createServer } from 'node:net'

/** A port of 127.0.0.1 that was free a moment ago: `preferred` if it was, else any. */
export async function freePort(preferred: number | null): Promise<number> {
  const port = preferred === null ? null : await tryPort(preferred)
  return port ?? (await anyPort())
}

/** The port if nobody listens on it, else `null`. */
export async function tryPort(port: number): Promise<number | null> {
  try {
    return await listenOnce(port)
  } catch {
    return null
  }
}

function anyPort(): Promise<number> {
  return listenOnce(0)
}

function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address()
      const taken = typeof address === 'object' && address !== null ? address.port : port
      server.close(() => resolve(taken))
    })
  })
}
