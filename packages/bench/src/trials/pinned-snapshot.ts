import { setTimeout as sleep } from 'node:timers/promises'
import pg, { type Client } from 'pg'
import type { Values } from '../measure/metrics.js'
import { serverCpuSeconds } from '../measure/processor-time.js'
import { quantile } from '../measure/statistics.js'
import type { TrialContext } from './trial.js'

/** Tasks go in by at least so many at once. */
const AT_ONCE = 15

/** Seconds of undisturbed work before the snapshot and after it, and the length of what is looked at. */
const BEFORE_SECONDS = 20
const AFTER_SECONDS = 20
const WINDOW_SECONDS = 10

/** A steady stream of tasks while another session holds a snapshot, so that no dead row can be removed. */
export async function pinnedSnapshot(context: TrialContext): Promise<Values> {
  const { peer, client, url, parameters } = context
  const { maxSeconds = 180, rate = 1_500 } = parameters
  await client.query('create extension if not exists pg_stat_statements schema public')
  const enqueuer = await peer.enqueuer(2)
  const stream = new Stream(context)
  const working = await peer.work({ userWrite: false, onTask: (mark) => stream.note(mark) })
  let running = true
  const begun = performance.now()
  let enqueued = 0
  const producing = (async () => {
    while (running) {
      const due = Math.floor(((performance.now() - begun) / 1000) * rate) - enqueued
      if (due < AT_ONCE) {
        await sleep(2)
        continue
      }
      const count = Math.min(due, 300)
      const now = Date.now()
      await enqueuer.enqueueMany(Array.from({ length: count }, () => now))
      enqueued += count
    }
  })()

  const shorten = Math.min(1, maxSeconds / 60)
  const windowMs = WINDOW_SECONDS * 1000 * shorten
  await sleep(BEFORE_SECONDS * 1000 * shorten - windowMs)
  const before = await stream.window(windowMs)
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  await holder.query('begin isolation level repeatable read')
  await holder.query('select pg_current_snapshot()')
  await sleep(maxSeconds * 1000 - windowMs)
  const pinned = await stream.window(windowMs)
  const backlog = enqueued - stream.started
  await holder.query('rollback')
  await holder.end()
  await sleep(AFTER_SECONDS * 1000 * shorten - windowMs)
  const after = await stream.window(windowMs)
  running = false
  await producing
  await working.stop()
  await enqueuer.end()
  return {
    claimMsBefore: before.claimMs,
    claimMsPinned: pinned.claimMs,
    claimMsAfter: after.claimMs,
    buffers: pinned.buffers,
    p50Ms: pinned.p50,
    p95Ms: pinned.p95,
    backlog,
    tasksPerSecond: pinned.perSecond,
    ...(pinned.cores === undefined ? {} : { serverCores: pinned.cores }),
  }
}

interface Claims {
  readonly milliseconds: number
  readonly calls: number
  readonly blocks: number
}

/** What arrives, and what claiming it costs. */
class Stream {
  readonly #client: Client
  readonly #pattern: string
  readonly #postmaster: number | undefined
  #latencies: number[] = []
  started = 0

  constructor({ client, peer, postmaster }: TrialContext) {
    this.#client = client
    this.#pattern = peer.claim
    this.#postmaster = postmaster
  }

  note(mark: number): void {
    this.started += 1
    this.#latencies.push(Date.now() - mark)
  }

  async window(lengthMs: number) {
    const claims = await this.#claims()
    const cpu = serverCpuSeconds(this.#postmaster)
    this.#latencies = []
    const begun = performance.now()
    await sleep(lengthMs)
    const seconds = (performance.now() - begun) / 1000
    const sorted = this.#latencies.toSorted((a, b) => a - b)
    const cpuLater = serverCpuSeconds(this.#postmaster)
    const later = await this.#claims()
    const calls = later.calls - claims.calls
    return {
      claimMs: (later.milliseconds - claims.milliseconds) / calls,
      buffers: (later.blocks - claims.blocks) / calls,
      p50: quantile(sorted, 0.5),
      p95: quantile(sorted, 0.95),
      perSecond: sorted.length / seconds,
      cores: cpu === undefined || cpuLater === undefined ? undefined : (cpuLater - cpu) / seconds,
    }
  }

  async #claims(): Promise<Claims> {
    const { rows } = await this.#client.query(
      `select coalesce(sum(s.total_exec_time), 0)::float8 as bench_ms, coalesce(sum(s.calls), 0)::float8 as calls,
         coalesce(sum(s.shared_blks_hit + s.shared_blks_read), 0)::float8 as blocks
       from public.pg_stat_statements s join pg_database d on d.oid = s.dbid
       where d.datname = current_database() and s.query ilike $1 and s.query not like '%bench\\_%'`,
      [this.#pattern],
    )
    return { milliseconds: rows[0].bench_ms, calls: rows[0].calls, blocks: rows[0].blocks }
  }
}
