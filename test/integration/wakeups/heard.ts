import type { Client, Notification } from 'pg'
import { within } from '../../support/wait-for.js'

/** Listens on the channel of enqueued tasks, as any worker in any language does, and counts what one act announces. */
export class Listening {
  readonly #listener: Client
  readonly #announcer: Client
  #markers = 0

  private constructor(listener: Client, announcer: Client) {
    this.#listener = listener
    this.#announcer = announcer
  }

  /** @param announcer - another session, to know where what an act announced ends */
  static async start(listener: Client, announcer: Client): Promise<Listening> {
    await listener.query('listen pg_tasks')
    return new Listening(listener, announcer)
  }

  /** The payloads of all notifications that were sent while the act ran. */
  async heardDuring(act: () => Promise<unknown>): Promise<string[]> {
    await this.#untilMarker()
    const heard: string[] = []
    const listener = ({ payload = '' }: Notification) => {
      if (!payload.startsWith(MARKER)) heard.push(payload)
    }
    this.#listener.on('notification', listener)
    try {
      await act()
      await this.#untilMarker()
    } finally {
      this.#listener.off('notification', listener)
    }
    return heard
  }

  /** Until all that was committed so far is heard: notifications come in the order of the commits. */
  async #untilMarker(): Promise<void> {
    const marker = `${MARKER}${++this.#markers}`
    let listener: (notification: Notification) => void = () => {}
    const heard = new Promise<void>((resolve) => {
      listener = ({ payload }) => {
        if (payload === marker) resolve()
      }
    })
    this.#listener.on('notification', listener)
    try {
      await this.#announcer.query(`select pg_notify('pg_tasks', $1)`, [marker])
      await within(heard, { what: 'the marker behind the notifications' })
    } finally {
      this.#listener.off('notification', listener)
    }
  }
}

const MARKER = 'marker '
