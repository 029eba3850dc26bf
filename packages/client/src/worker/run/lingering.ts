import { startTimer } from '../../timers/start-timer.js'
import type { ActiveRun } from './active-run.js'

/** How long a task is kept back whose former handler still runs in this process, before it is given to others. */
const PARKED_MS = 30_000

interface Parked {
  readonly run: ActiveRun
  readonly cancel: () => void
}

/**
 * Handlers that go on although their task is no longer theirs: it was lost, or given back after the run limit. If the same
 * task comes to this process again, it is parked until they have ended: two at once would share the process's memory.
 */
export class Lingering {
  readonly #runs = new Map<string, ActiveRun>()
  readonly #parked = new Map<string, Parked>()
  readonly #onParkedTooLong: (run: ActiveRun) => void

  constructor(onParkedTooLong: (run: ActiveRun) => void) {
    this.#onParkedTooLong = onParkedTooLong
  }

  get size(): number {
    return this.#runs.size
  }

  has(run: ActiveRun): boolean {
    return this.#runs.get(run.id) === run
  }

  add(run: ActiveRun): void {
    this.#runs.set(run.id, run)
  }

  /** Parks a run if a former handler of its task still runs. */
  parks(run: ActiveRun): boolean {
    if (!this.#runs.has(run.id)) return false
    const cancel = startTimer(
      PARKED_MS,
      () => {
        this.#parked.delete(run.id)
        this.#onParkedTooLong(run)
      },
      { unref: true },
    )
    this.#parked.set(run.id, { run, cancel })
    return true
  }

  /** A handler has ended; returns the run that was parked behind it. */
  end(run: ActiveRun): ActiveRun | undefined {
    if (!this.has(run)) return undefined
    this.#runs.delete(run.id)
    return this.#unpark(run.id)
  }

  /** Takes a run out that was lost while it was parked. */
  drop(run: ActiveRun): void {
    if (this.#parked.get(run.id)?.run === run) this.#unpark(run.id)
  }

  unparkAll(): ActiveRun[] {
    return [...this.#parked.keys()].flatMap((id) => this.#unpark(id) ?? [])
  }

  #unpark(id: string): ActiveRun | undefined {
    const parked = this.#parked.get(id)
    if (parked === undefined) return undefined
    parked.cancel()
    this.#parked.delete(id)
    return parked.run
  }
}
