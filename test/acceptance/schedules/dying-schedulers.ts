import { setTimeout as delay } from 'node:timers/promises'
import { spawnScript, type WorkerProcess } from '../../support/worker-process.js'

/** At least so many are left alive. */
const LEAST = 2

/** Scheduler processes of which a random one is killed again and again, and another started in its place. */
export class DyingSchedulers {
  readonly #databaseUrl: string
  readonly #living: WorkerProcess[] = []
  readonly #starting = new Set<Promise<void>>()
  readonly #over = new AbortController()
  #killing: Promise<void> = Promise.resolve()
  kills = 0

  constructor(databaseUrl: string) {
    this.#databaseUrl = databaseUrl
  }

  async start(count: number): Promise<void> {
    for (let n = 1; n <= count; n += 1) this.#startOne()
    await Promise.all(this.#starting)
  }

  /** From now on, a kill -9 every so many milliseconds, ± 50 %. */
  killEvery(intervalMs: number): void {
    this.#killing = this.#kill(intervalMs)
  }

  async end(): Promise<void> {
    this.#over.abort()
    await this.#killing
    await Promise.all(this.#starting)
    await Promise.all(this.#living.map((scheduler) => scheduler.kill()))
  }

  async #kill(intervalMs: number): Promise<void> {
    while (!this.#over.signal.aborted) {
      await delay(intervalMs * (0.5 + Math.random()))
      if (this.#living.length <= LEAST) continue
      const [scheduler] = this.#living.splice(Math.floor(Math.random() * this.#living.length), 1)
      await scheduler?.kill()
      this.kills += 1
      this.#startOne()
    }
  }

  #startOne(): void {
    const scheduler = spawnScript(new URL('./workers/run-scheduler.ts', import.meta.url), {
      env: { DATABASE_URL: this.#databaseUrl },
    })
    const started = scheduler.line('ready', { timeoutMs: 90_000 }).then(() => {
      this.#living.push(scheduler)
      this.#starting.delete(started)
    })
    this.#starting.add(started)
  }
}
