import type { Client } from 'pg'
import { machineCpuSeconds, ownCpuSeconds, serverCpuSeconds } from './processor-time.js'

/** What a stretch of work cost. Where something can't be known, it is left out. */
export interface Cost {
  readonly seconds: number
  readonly nodeCpuSeconds: number
  readonly serverCpuSeconds?: number
  readonly walBytes: number
  /** Share of the machine's CPU that neither this process nor the server used. */
  readonly othersShare?: number
}

interface Reading {
  readonly at: number
  readonly node: number
  readonly server: number | undefined
  readonly machine: { readonly busy: number; readonly total: number } | undefined
  readonly wal: bigint
}

/** Measures what lies between `start` and `stop`, in this process and on the server. */
export class Meter {
  readonly #client: Client
  readonly #postmaster: number | undefined
  #begin: Reading | undefined

  /** @param client - a connection of the meter's own; nothing runs on it meanwhile */
  constructor(client: Client, postmaster: number | undefined) {
    this.#client = client
    this.#postmaster = postmaster
  }

  async start(): Promise<void> {
    const wal = await this.#walPosition()
    this.#begin = this.#read(wal)
  }

  /** Sets the beginning to this moment; what WAL was written since {@link start} still counts. */
  restart(): void {
    if (this.#begin !== undefined) this.#begin = this.#read(this.#begin.wal)
  }

  async stop(): Promise<Cost> {
    const begin = this.#begin
    if (begin === undefined) throw new Error('The meter was not started')
    // The clock stops first: the query for the WAL position belongs to nobody.
    const end = this.#read(0n)
    const wal = await this.#walPosition()
    const nodeCpu = end.node - begin.node
    const serverCpu = end.server === undefined || begin.server === undefined ? undefined : end.server - begin.server
    return {
      seconds: (end.at - begin.at) / 1000,
      nodeCpuSeconds: nodeCpu,
      walBytes: Number(wal - begin.wal),
      ...(serverCpu === undefined ? {} : { serverCpuSeconds: serverCpu }),
      ...othersShare(begin, end, nodeCpu + (serverCpu ?? 0)),
    }
  }

  #read(wal: bigint): Reading {
    return {
      at: performance.now(),
      node: ownCpuSeconds(),
      server: serverCpuSeconds(this.#postmaster),
      machine: machineCpuSeconds(),
      wal,
    }
  }

  async #walPosition(): Promise<bigint> {
    const { rows } = await this.#client.query("select (pg_current_wal_insert_lsn() - '0/0')::text as bench_position")
    return BigInt(rows[0].bench_position)
  }
}

function othersShare(begin: Reading, end: Reading, ours: number): { othersShare?: number } {
  if (begin.machine === undefined || end.machine === undefined) return {}
  const total = end.machine.total - begin.machine.total
  if (total <= 0) return {}
  return { othersShare: Math.max(0, end.machine.busy - begin.machine.busy - ours) / total }
}
