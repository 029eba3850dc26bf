import { Meter } from '../measure/meter.js'
import type { Values } from '../measure/metrics.js'
import { perTask } from '../measure/per-task.js'
import { countStatements, resetStatements } from '../measure/statement-count.js'
import type { TrialContext } from './trial.js'

/** Clients that enqueue one task after the other, each in a transaction of its own. No worker is there. */
export async function enqueue({ peer, client, parameters, postmaster }: TrialContext): Promise<Values> {
  const { count = 1, clients = 10 } = parameters
  if (parameters.workerAwake === true) await client.query("select tasks.stay_awake('tasks.noop'::regclass)")
  const enqueuer = await peer.enqueuer(clients)
  const work = async (tasks: number): Promise<void> => {
    let next = 0
    const one = async (): Promise<void> => {
      while (next < tasks) {
        next += 1
        await enqueuer.enqueue(next)
      }
    }
    await Promise.all(Array.from({ length: clients }, one))
  }
  // Connections are opened and statements prepared before the clock runs.
  await work(clients * 10)
  if (parameters.countStatements === true) await resetStatements(client)
  const meter = new Meter(client, postmaster)
  await meter.start()
  await work(count)
  const cost = await meter.stop()
  const statements = parameters.countStatements === true ? await countStatements(client) : undefined
  await enqueuer.end()
  if (statements !== undefined) return { statements: statements / count }
  return { tasksPerSecond: count / cost.seconds, ...perTask(cost, count) }
}
