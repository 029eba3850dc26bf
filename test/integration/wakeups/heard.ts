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
    const marker = `marker ${++this.#markers}`
    const heard: string[] = []
    let listener: (notification: Notification) => void = () => {}
    const end = new Promise<void>((resolve) => {
      listener = ({ payload = '' }) => (payload === marker ? resolve() : heard.push(payload))
    })
    this.#listener.on('notification', listener)
    try {
      await act()
      // Notifications come in the order of the commits.
      await this.#announcer.query(`select pg_notify('pg_tasks', $1)`, [marker])
      await within(end, { what: 'the marker behind the notifications' })
    } finally {
      this.#listener.off('notification', listener)
    }
    return heard
  }
}
