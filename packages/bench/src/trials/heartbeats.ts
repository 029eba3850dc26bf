import { setTimeout as sleep } from 'node:timers/promises'
import { type Claimed, Task, type TaskContext, Worker } from '@pg-tasks/client'
import { Meter } from '../measure/meter.js'
import type { Values } from '../measure/metrics.js'
import { configureTimeout, tableWrites } from './our-table.js'
import type { TrialContext } from './trial.js'

/** A handler that goes on until it is aborted. */
class Long extends Task {
  readonly #onStart: () => void

  constructor(onStart: () => void) {
    super({ table: 'noop' })
    this.#onStart = onStart
  }

  override run(_task: Claimed, { signal }: TaskContext): Promise<void> {
    this.#onStart()
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  }
}

/** Many long tasks of one worker: what it costs to keep their lease, and who writes what. */
export async function heartbeats({ peer, client, url, parameters, postmaster }: TrialContext): Promise<Values> {
  const { count = 5_000, maxSeconds = 600, leaseSeconds = 60 } = parameters
  await configureTimeout(client, leaseSeconds)
  await peer.fill(count)
  let started = 0
  const worker = new Worker({ connectionString: url, handleSignals: false, abortGraceMs: 20_000 })
  worker.add(
    new Long(() => {
      started += 1
    }),
    count,
  )
  const running = worker.run()
  while (started < count) await sleep(20)
  await sleep(2_000)
  const before = await tableWrites(client)
  const meter = new Meter(client, postmaster)
  await meter.start()
  await sleep(maxSeconds * 1000)
  const cost = await meter.stop()
  const after = await tableWrites(client)
  await worker.stop({ timeoutMs: 0 })
  await running
  const beats = maxSeconds / (leaseSeconds / 3)
  return {
    nodeCores: cost.nodeCpuSeconds / cost.seconds,
    ...(cost.serverCpuSeconds === undefined ? {} : { serverCores: cost.serverCpuSeconds / cost.seconds }),
    walPerBeat: cost.walBytes / beats,
    writesPerBeat: (after.leases - before.leases) / beats,
    rowsWritten: after.tasks - before.tasks,
  }
}
