import { Maintenance } from '../maintenance/maintenance.js'
import { DeclaredSchedules } from '../schedule/declared-schedules.js'
import { Scheduler } from '../schedule/scheduler.js'
import type { TypeContext } from './type/type-context.js'

/** What a worker does besides running tasks: it fires schedules, and deletes what is past its time. */
export class WorkerServices {
  /** Those that its code declares. */
  readonly schedules: DeclaredSchedules
  readonly #scheduler: Scheduler
  readonly #maintenance: Maintenance | undefined

  constructor({ settling, failures, logger, events, options, open }: TypeContext) {
    const onRefused = (schedule: { readonly key: string; readonly error: string }): void => {
      logger.error({ ...schedule }, 'A schedule was refused')
      events.emit('schedule_refused', schedule)
    }
    this.schedules = new DeclaredSchedules(settling, failures, onRefused)
    this.#scheduler = new Scheduler({
      session: settling,
      failures,
      listener: { onFired: (schedule) => events.emit('scheduled', schedule), onRefused },
      longestSleepMs: options.pollIntervalMs,
    })
    const { maintenanceIntervalMs } = options
    if (maintenanceIntervalMs === null) return
    this.#maintenance = new Maintenance({
      intervalMs: maintenanceIntervalMs,
      open,
      logger,
      failures,
      onMaintained: (maintained) => events.emit('cleaned', maintained),
    })
  }

  /** Begins to fire and to delete; the declared schedules are written before. */
  start(): void {
    this.#scheduler.start()
    this.#maintenance?.start()
  }

  /** A schedule was written or resumed, or notifications were missed. */
  wake(): void {
    this.#scheduler.wake()
  }

  async stop(): Promise<void> {
    await Promise.allSettled([this.#scheduler.stop(), this.#maintenance?.stop()])
  }
}
