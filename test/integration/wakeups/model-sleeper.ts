import type { Client } from 'pg'

export interface ModelSleeperOptions {
  /** Sleep's second look, without which a task that was in flight is lost; false is the bug that the tests must find. */
  readonly secondLook: boolean
  /** The work on a task, which ends before it is finished. */
  readonly handle: (id: string) => Promise<void>
  /** Called when it has looked, is asleep, and finds that a transaction which enqueued is still open. */
  readonly onInFlight?: () => void
}

/** Grows from the first to the second while an enqueuing transaction stays open. */
const IN_FLIGHT_MS = [10, 1_000] as const

/**
 * A worker reduced to its sleep: it never polls, so a wake that is lost stays lost. Two sessions as in a real one: tasks are
 * acquired on one; the other listens and holds the sleep locks.
 */
export class ModelSleeper {
  readonly #acquirer: Client
  readonly #listener: Client
  readonly #table: string
  readonly #options: ModelSleeperOptions
  #woken = false
  #wake: () => void = () => {}
  #stopped = false
  #running: Promise<void> = Promise.resolve()

  constructor(acquirer: Client, listener: Client, table: string, options: ModelSleeperOptions) {
    this.#acquirer = acquirer
    this.#listener = listener
    this.#table = table
    this.#options = options
    // Of its own type only: the noise of other lanes would wake it in time for what it has lost.
    listener.on('notification', ({ payload }) => {
      if (payload === `tasks.${table}`) this.#rouse()
    })
  }

  async start(): Promise<void> {
    await this.#listener.query('listen pg_tasks')
    this.#running = this.#run()
    this.#running.catch(() => {}) // told by stop()
  }

  /** @throws what ended it before, such as the end of one of its sessions */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#rouse()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      this.#woken = false
      const awake = await this.#lock('stay_awake')
      while (await this.#look());
      await this.#lock('fall_asleep')
      if (awake) await this.#lock('stop_awake')
      if (!(await this.#look()) && (await this.#nothingInFlight())) {
        if (!this.#options.secondLook) await this.#nap(Number.POSITIVE_INFINITY)
        else if (!(await this.#look())) await this.#nap(await this.#nextDueMs())
      }
      await this.#lock('wake_up')
    }
  }

  /** Takes what is due and works on it; false if there was nothing. */
  async #look(): Promise<boolean> {
    const { rows } = await this.#acquirer.query(`select id::text from tasks.acquire_tasks_${this.#table}(5)`)
    for (const { id } of rows) {
      await this.#options.handle(id)
      await this.#acquirer.query(`select tasks.finish_tasks_${this.#table}($1::bigint)`, [id])
    }
    return rows.length > 0
  }

  /** Waits until no transaction is open that enqueued before we fell asleep; false if something woke us first. */
  async #nothingInFlight(): Promise<boolean> {
    let [wait, longest] = IN_FLIGHT_MS as readonly number[] as [number, number]
    while (!(await this.#lock('nothing_in_flight'))) {
      this.#options.onInFlight?.()
      await this.#nap(wait)
      if (this.#woken || this.#stopped) return false
      wait = Math.min(wait * 2, longest)
    }
    return true
  }

  async #nextDueMs(): Promise<number> {
    const { rows } = await this.#acquirer.query(`select ready_in from tasks.next_due_tasks_${this.#table}()`)
    return rows[0].ready_in ?? Number.POSITIVE_INFINITY
  }

  async #lock(name: string): Promise<boolean> {
    const { rows } = await this.#listener.query(`select tasks.${name}('tasks.${this.#table}'::regclass::oid) as ok`)
    return rows[0].ok
  }

  async #nap(ms: number): Promise<void> {
    if (this.#woken || this.#stopped) return
    await new Promise<void>((resolve) => {
      const timer = ms < 1e9 ? setTimeout(resolve, ms) : undefined
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #rouse(): void {
    this.#woken = true
    this.#wake()
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
