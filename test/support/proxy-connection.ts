import { connect, type Socket } from 'node:net'

/** `up`: from the client to the server; `down`: back. */
export type ProxyDirection = 'up' | 'down'

/** What happens to the data of a connection. */
export type ProxyTraffic =
  | { readonly kind: 'pass' | 'blackhole' | 'hold' | 'reset' }
  | { readonly kind: 'delay'; readonly ms: number }
  | {
      readonly kind: 'cut'
      readonly matches: (data: Buffer, direction: ProxyDirection) => boolean
      readonly deliver: boolean
      readonly done: () => void
    }

type Report = (event: ProxyDirection | 'closed' | 'end', bytes: number) => void

/** `null` stands for the end of the stream, which keeps its place among the data. */
type Piece = Buffer | null

/** One client's connection and the one that the proxy opened for it. */
export class ProxyConnection {
  readonly #client: Socket
  readonly #upstream: Socket
  readonly #report: Report
  readonly #held: { readonly direction: ProxyDirection; readonly piece: Piece }[] = []
  readonly #delayed = { up: Promise.resolve(), down: Promise.resolve() }
  readonly #delayedPieces = { up: 0, down: 0 }
  #traffic: ProxyTraffic
  #hasLostBytes = false
  #isEnding = false

  constructor(client: Socket, target: URL, traffic: ProxyTraffic, report: Report) {
    this.#client = client
    this.#traffic = traffic
    this.#report = report
    this.#upstream = connect({ host: target.hostname, port: Number(target.port || 5432), allowHalfOpen: true })
    this.#client.setNoDelay(true)
    this.#upstream.setNoDelay(true)
    this.#listen(this.#client, this.#upstream, 'up')
    this.#listen(this.#upstream, this.#client, 'down')
    this.#client.once('close', () => report('closed', 0))
  }

  setTraffic(traffic: ProxyTraffic): void {
    this.#traffic = traffic
    if (this.#isEnding || traffic.kind === 'blackhole' || traffic.kind === 'hold') return
    for (const { direction, piece } of this.#held.splice(0)) this.#handle(direction, piece)
    // What ended or was lost while the other side couldn't be told: now it can.
    if (this.#hasLostBytes || this.#client.destroyed || this.#upstream.destroyed) this.reset()
  }

  reset(): void {
    this.#client.resetAndDestroy()
    this.#upstream.resetAndDestroy()
    this.#report('end', 0)
  }

  #listen(socket: Socket, other: Socket, direction: ProxyDirection): void {
    socket.on('data', (data: Buffer) => {
      this.#report(direction, data.length)
      this.#handle(direction, data)
    })
    socket.once('end', () => this.#handle(direction, null))
    socket.on('error', () => {})
    socket.once('close', (hadError) => {
      if (other.destroyed) this.#report('end', 0)
      else if (hadError && this.#traffic.kind !== 'blackhole' && this.#traffic.kind !== 'hold') this.reset()
    })
  }

  #handle(direction: ProxyDirection, piece: Piece): void {
    const traffic = this.#traffic
    switch (traffic.kind) {
      case 'pass':
      case 'reset':
        this.#forward(direction, piece)
        break
      case 'blackhole':
        this.#hasLostBytes = true
        break
      case 'hold':
        this.#held.push({ direction, piece })
        break
      case 'delay':
        this.#forwardLater(direction, piece, traffic.ms)
        break
      case 'cut':
        if (piece !== null && traffic.matches(piece, direction)) this.#cut(direction, piece, traffic)
        else this.#forward(direction, piece)
    }
  }

  #forward(direction: ProxyDirection, piece: Piece): void {
    // What was delayed goes first.
    if (this.#delayedPieces[direction] > 0) this.#forwardLater(direction, piece, 0)
    else this.#send(direction, piece)
  }

  #forwardLater(direction: ProxyDirection, piece: Piece, ms: number): void {
    const due = new Promise<void>((resolve) => {
      setTimeout(resolve, ms).unref()
    })
    this.#delayedPieces[direction] += 1
    this.#delayed[direction] = Promise.all([due, this.#delayed[direction]]).then(() => {
      this.#delayedPieces[direction] -= 1
      this.#send(direction, piece)
    })
  }

  #send(direction: ProxyDirection, piece: Piece): void {
    const target = direction === 'up' ? this.#upstream : this.#client
    if (target.destroyed || target.writableEnded) return
    if (piece === null) target.end()
    else target.write(piece)
  }

  #cut(direction: ProxyDirection, piece: Buffer, { deliver, done }: Extract<ProxyTraffic, { kind: 'cut' }>): void {
    if (deliver) {
      this.#isEnding = true
      // In order, and followed by an end instead of a reset, so that the receiver is sure to read it.
      this.#send(direction, piece)
      this.#send(direction, null)
      const source = direction === 'up' ? this.#client : this.#upstream
      source.resetAndDestroy()
    } else {
      this.reset()
    }
    done()
  }
}
