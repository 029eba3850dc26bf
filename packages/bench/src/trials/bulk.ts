import { Meter } from '../measure/meter.js'
import type { Values } from '../measure/metrics.js'
import { perTask } from '../measure/per-task.js'
import type { TrialContext } from './trial.js'

/** All tasks by one call of the queue's bulk interface. */
export async function bulk({ peer, client, parameters, postmaster }: TrialContext): Promise<Values> {
  const { count = 1 } = parameters
  const enqueuer = await peer.enqueuer(2)
  await enqueuer.enqueueMany([1, 2, 3])
  const marks = Array.from({ length: count }, (_, mark) => mark)
  const meter = new Meter(client, postmaster)
  await meter.start()
  await enqueuer.enqueueMany(marks)
  const cost = await meter.stop()
  await enqueuer.end()
  return { rowsPerSecond: count / cost.seconds, ...perTask(cost, count) }
}
