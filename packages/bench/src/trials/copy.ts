import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { from } from 'pg-copy-streams'
import { Meter } from '../measure/meter.js'
import type { Values } from '../measure/metrics.js'
import { perTask } from '../measure/per-task.js'
import type { TrialContext } from './trial.js'

const LINES_AT_ONCE = 1_000

/** The yardstick of a bulk: COPY of the same rows into our table. */
export async function copy({ client, parameters, postmaster }: TrialContext): Promise<Values> {
  const { count = 1 } = parameters
  const meter = new Meter(client, postmaster)
  await meter.start()
  await pipeline(Readable.from(lines(count)), client.query(from('copy tasks.noop (mark) from stdin')))
  const cost = await meter.stop()
  return { rowsPerSecond: count / cost.seconds, ...perTask(cost, count) }
}

function* lines(count: number): Iterable<string> {
  for (let mark = 0; mark < count; mark += LINES_AT_ONCE) {
    const length = Math.min(LINES_AT_ONCE, count - mark)
    yield `${Array.from({ length }, (_, index) => mark + index).join('\n')}\n`
  }
}
