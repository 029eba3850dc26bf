import { createServer, type Server, type Socket } from 'node:net'
import { ProxyConnection, type ProxyDirection, type ProxyTraffic } from './proxy-connection.js'

export type { ProxyDirection } from './proxy-connection.js'

export interface ProxyCounters {
  /** Connections that clients opened, also those that were reset at once. */
  accepted: number
  /** Connections that are open on the client's side now. */
  open: number
  /** Bytes that clients sent, forwarded or not. */
  bytesUp: number
  /** Bytes that the server sent, forwarded or not. */
  bytesDown: number
}

export interface CutOptions {
  /** Whether the bytes that triggered the cut still reach the other side. */
  readonly deliver: boolean
}

/**
 * A TCP proxy in front of the server, to break the network between it and the tested code. It stays in a mode until the
 * next one is chosen; the mode holds for open and for new connections.
 */
export interface TestProxy {
  readonly port: number
  /** The server's connection string by way of the proxy. */
  readonly url: string
  readonly counters: Readonly<ProxyCounters>
  /** Forward everything. Also what it does at first. */
  pass(): Promise<void>
  /**
   * Accept connections and swallow all bytes, both ways: nobody is told that the other side is gone. Connections that have
   * lost bytes are reset when this mode ends.
   */
  blackhole(): Promise<void>
  /** Keep all bytes, both ways, and deliver them in order on {@link pass}: an outage that TCP survives. */
  hold(): Promise<void>
  /** Reset open connections now, and new ones as soon as they are accepted. */
  reset(): Promise<void>
  /** Refuse new connections, as a machine without a server does; open ones go on. */
  refuse(): Promise<void>
  /** Reset open connections and refuse new ones: the server is gone. */
  down(): Promise<void>
  /** Forward every piece of data that much later, in order. */
  delay(ms: number): Promise<void>
  /** Reset open connections once, and go on as before. */
  cut(): void
  /** Reset the connection that carries the n-th byte in this direction from now on; resolves when it has happened. */
  cutAfter(bytes: number, direction: ProxyDirection, options?: CutOptions): Promise<void>
  /**
   * Reset the connection on which a piece of data matches, once; resolves when it has happened. So a connection can be cut
   * before or after the server has seen COMMIT.
   */
  cutWhen(matches: (data: Buffer, direction: ProxyDirection) => boolean, options?: CutOptions): Promise<void>
  /** Close everything. */
  close(): Promise<void>
}

/** Starts a proxy in front of the server of a connection string. */
export async function startProxy(targetUrl: string): Promise<TestProxy> {
  const proxy = new TcpProxy(targetUrl)
  await proxy.listen()
  return proxy
}

class TcpProxy implements TestProxy {
  readonly counters: ProxyCounters = { accepted: 0, open: 0, bytesUp: 0, bytesDown: 0 }
  readonly #target: URL
  readonly #connections = new Set<ProxyConnection>()
  /** Accepted in a black hole: the server never hears of them. */
  readonly #swallowed = new Set<Socket>()
  #traffic: ProxyTraffic = { kind: 'pass' }
  #server: Server | null = null
  #port = 0

  constructor(targetUrl: string) {
    this.#target = new URL(targetUrl)
  }

  get port(): number {
    return this.#port
  }

  get url(): string {
    const url = new URL(this.#target)
    url.hostname = '127.0.0.1'
    url.port = String(this.#port)
    return url.href
  }

  pass(): Promise<void> {
    return this.#switchTo({ kind: 'pass' })
  }

  blackhole(): Promise<void> {
    return this.#switchTo({ kind: 'blackhole' })
  }

  hold(): Promise<void> {
    return this.#switchTo({ kind: 'hold' })
  }

  async reset(): Promise<void> {
    await this.#switchTo({ kind: 'reset' })
    this.cut()
  }

  async refuse(): Promise<void> {
    this.#setTraffic({ kind: 'pass' })
    await this.#stopListening()
  }

  async down(): Promise<void> {
    await this.refuse()
    this.cut()
  }

  delay(ms: number): Promise<void> {
    return this.#switchTo({ kind: 'delay', ms })
  }

  cut(): void {
    for (const connection of this.#connections) connection.reset()
    for (const socket of this.#swallowed) socket.resetAndDestroy()
  }

  cutAfter(bytes: number, direction: ProxyDirection, options?: CutOptions): Promise<void> {
    let seen = 0
    return this.cutWhen((data, way) => {
      if (way === direction) seen += data.length
      return seen >= bytes
    }, options)
  }

  cutWhen(
    matches: (data: Buffer, direction: ProxyDirection) => boolean,
    { deliver }: CutOptions = { deliver: false },
  ): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#setTraffic({ kind: 'pass' })
        resolve()
      }
      this.#setTraffic({ kind: 'cut', matches, deliver, done })
    })
  }

  async close(): Promise<void> {
    await this.#stopListening()
    this.cut()
  }

  async listen(): Promise<void> {
    if (this.#server !== null) return
    const server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket))
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host: '127.0.0.1', port: this.#port }, resolve)
    })
    this.#server = server
    const address = server.address()
    if (typeof address === 'object' && address !== null) this.#port = address.port
  }

  #accept(socket: Socket): void {
    this.counters.accepted += 1
    if (this.#traffic.kind === 'reset') {
      socket.resetAndDestroy()
      return
    }
    this.counters.open += 1
    if (this.#traffic.kind === 'blackhole') {
      this.#swallow(socket)
      return
    }
    const connection = new ProxyConnection(socket, this.#target, this.#traffic, (event, bytes) => {
      if (event === 'end') this.#connections.delete(connection)
      else if (event === 'closed') this.counters.open -= 1
      else if (event === 'up') this.counters.bytesUp += bytes
      else this.counters.bytesDown += bytes
    })
    this.#connections.add(connection)
  }

  #swallow(socket: Socket): void {
    this.#swallowed.add(socket)
    socket.on('error', () => {})
    socket.on('data', (data: Buffer) => {
      this.counters.bytesUp += data.length
    })
    socket.once('close', () => {
      this.counters.open -= 1
      this.#swallowed.delete(socket)
    })
  }

  async #switchTo(traffic: ProxyTraffic): Promise<void> {
    this.#setTraffic(traffic)
    await this.listen()
  }

  #setTraffic(traffic: ProxyTraffic): void {
    this.#traffic = traffic
    for (const connection of this.#connections) connection.setTraffic(traffic)
    if (traffic.kind !== 'blackhole') for (const socket of this.#swallowed) socket.resetAndDestroy()
  }

  async #stopListening(): Promise<void> {
    const server = this.#server
    this.#server = null
    // close() ends listening at once; its callback would wait for the open connections.
    server?.close()
  }
}
