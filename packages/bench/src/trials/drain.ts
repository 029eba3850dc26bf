import { setTimeout as sleep } from 'node:timers/promises'
import { Meter } from '../measure/meter.js'
import type { Values } from '../measure/metrics.js'
import { perTask } from '../measure/per-task.js'
import { countStatements, resetStatements } from '../measure/statement-count.js'
import { widen } from './our-table.js'
import type { TrialContext } from './trial.js'

/**
 * Works off a backlog. The clock runs from the start of the first handler until the database shows no task that is left to
 * be done, so that connecting counts for nobody and every outcome has to be written.
 */
export async function drain(context: TrialContext): Promise<Values> {
  const { peer, client, parameters, postmaster } = context
  const { count = 1, userWrite = false, maxSeconds = 60 } = parameters
  if (parameters.wide === true) await widen(client)
  await peer.fill(count)
  await client.query('vacuum analyze')
  if (parameters.countStatements === true) await resetStatements(client)

  const meter = new Meter(client, postmaster)
  const handled = new HandledTasks(count, maxSeconds)
  await meter.start()
  const working = await peer.work({ userWrite, onTask: () => handled.add(meter) })
  await handled.all()
  let drained = false
  if (handled.count >= count) {
    drained = await untilDrained(context)
  }
  const cost = await meter.stop()
  const statements = parameters.countStatements === true ? await countStatements(client) : undefined
  const heapMb = process.memoryUsage().heapUsed / 2 ** 20
  await working.stop()
  if (handled.count >= count && !drained) throw new Error('Tasks are left that nobody does')
  if (statements !== undefined) return { statements: statements / handled.count }
  return { tasksPerSecond: handled.count / cost.seconds, ...perTask(cost, handled.count), heapMb }
}

async function untilDrained({ peer, client }: TrialContext): Promise<boolean> {
  for (const giveUpAt = performance.now() + 30_000; performance.now() < giveUpAt; ) {
    if (await peer.isDrained(client)) return true
    await sleep(5)
  }
  return false
}

/** Counts what was handled; starts the meter's clock anew with the first. */
class HandledTasks {
  readonly #expected: number
  readonly #done: Promise<void>
  #finish: () => void = () => {}
  count = 0

  constructor(expected: number, maxSeconds: number) {
    this.#expected = expected
    this.#done = new Promise((resolve) => {
      this.#finish = resolve
    })
    setTimeout(() => this.#finish(), maxSeconds * 1000).unref()
  }

  add(meter: Meter): void {
    if (this.count === 0) meter.restart()
    this.count += 1
    if (this.count === this.#expected) this.#finish()
  }

  all(): Promise<void> {
    return this.#done
  }
}
