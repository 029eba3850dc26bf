import { setTimeout as sleep } from 'node:timers/promises'
import pg, { type Client } from 'pg'
import type { Values } from '../measure/metrics.js'
import { countStatements, resetStatements } from '../measure/statement-count.js'
import { quantile } from '../measure/statistics.js'
import type { Enqueuer } from '../peers/peer.js'
import type { TrialContext } from './trial.js'

/** Longest wait for one task, and for the first, which comes while the worker is still starting. */
const LOST_MS = 60_000

/** Tasks that aren't counted; those planned ahead may each wait for a peer's poll. */
const WARM_UP = 20
const PLANNED_WARM_UP = 1

/** An idle worker: from the COMMIT of an insert being sent to the start of the handler, one task at a time. */
export async function latency(context: TrialContext): Promise<Values> {
  return measure(context, WARM_UP, async ({ client, enqueuer, arrival }, mark) => {
    await client.query('begin')
    await enqueuer.enqueueIn(client, { mark })
    const arrived = arrival.of(mark)
    const begun = performance.now()
    const committed = client.query('commit')
    const at = await arrived
    await committed
    await sleep(5 + Math.random() * 10)
    return at - begun
  })
}

/** An idle worker: from the due time of a planned task to the start of its handler. */
export async function planned(context: TrialContext): Promise<Values> {
  return measure(context, PLANNED_WARM_UP, async ({ client, enqueuer, arrival }, mark) => {
    const due = Date.now() + 200 + Math.round(Math.random() * 300)
    await enqueuer.enqueueIn(client, { mark, plannedTo: new Date(due) })
    const at = await arrival.of(mark)
    return performance.timeOrigin + at - due
  })
}

/** What an idle worker sends while nothing happens. */
export async function idle({ peer, client, parameters }: TrialContext): Promise<Values> {
  const { maxSeconds = 10 } = parameters
  const working = await peer.work({ userWrite: false, onTask: () => {} })
  await sleep(2_000)
  await resetStatements(client)
  await sleep(maxSeconds * 1000)
  const statements = await countStatements(client)
  await working.stop()
  return { idleStatements: statements / maxSeconds }
}

interface Measuring {
  readonly client: Client
  readonly enqueuer: Enqueuer
  readonly arrival: Arrival
}

async function measure(
  { peer, url, parameters }: TrialContext,
  warmUp: number,
  one: (measuring: Measuring, mark: number) => Promise<number>,
): Promise<Values> {
  const { count = 1 } = parameters
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const enqueuer = await peer.enqueuer(2)
  const arrival = new Arrival()
  const working = await peer.work({ userWrite: false, onTask: (mark) => arrival.note(mark) })
  const measuring = { client, enqueuer, arrival }
  for (let mark = 1; mark <= warmUp; mark += 1) await one(measuring, mark)
  const samples: number[] = []
  for (let mark = warmUp + 1; mark <= warmUp + count; mark += 1) samples.push(await one(measuring, mark))
  await working.stop()
  await enqueuer.end()
  await client.end()
  const sorted = samples.toSorted((a, b) => a - b)
  return {
    p50Ms: quantile(sorted, 0.5),
    p95Ms: quantile(sorted, 0.95),
    p99Ms: quantile(sorted, 0.99),
    maxMs: quantile(sorted, 1),
  }
}

/** Waits for the handler of one task. */
class Arrival {
  #awaited: { readonly mark: number; readonly resolve: (at: number) => void } | undefined

  of(mark: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`Task ${mark} did not start in ${LOST_MS} ms`)), LOST_MS)
      this.#awaited = {
        mark,
        resolve: (at) => {
          clearTimeout(timer)
          resolve(at)
        },
      }
    })
  }

  note(mark: number): void {
    const at = performance.now()
    if (this.#awaited?.mark === mark) this.#awaited.resolve(at)
  }
}
