import type { Client } from 'pg'
import type { TestDatabase } from '../../support/test-database.js'
import { within } from '../../support/wait-for.js'
import { createTaskType } from '../sql/create-task-type.js'
import { ModelSleeper, pause } from './model-sleeper.js'

export const ISOLATIONS = ['read committed', 'repeatable read', 'serializable'] as const

/** When one transaction does what, in milliseconds after the moment before. */
export interface Enqueuing {
  readonly beginAfter: number
  readonly insertAfter: number
  readonly commitAfter: number
  readonly isolation: (typeof ISOLATIONS)[number]
  /** How long after its commit the task is due. */
  readonly dueAfter: number
}

/** One task type with its sleepers and enqueuers, independent of other lanes. */
export class Lane {
  readonly #table: string
  readonly #enqueuers: readonly Client[]
  readonly #sleepers: readonly ModelSleeper[]
  readonly #done = new Set<string>()
  readonly #waiting = new Map<string, () => void>()

  private constructor(table: string, enqueuers: readonly Client[], clients: readonly Client[]) {
    this.#table = table
    this.#enqueuers = enqueuers
    const handle = async (id: string) => {
      await pause(5 + Math.random() * 40)
      this.#done.add(id)
      this.#waiting.get(id)?.()
    }
    this.#sleepers = clients.flatMap((client, index) => {
      const listener = clients[index + 1]
      return index % 2 === 0 && listener
        ? [new ModelSleeper(client, listener, table, { secondLook: true, handle })]
        : []
    })
  }

  static async open(database: TestDatabase, table: string, sleepers: number): Promise<Lane> {
    await createTaskType(database.pool, table)
    const clients = (count: number) => Promise.all(Array.from({ length: count }, () => database.client()))
    const lane = new Lane(table, await clients(3), await clients(2 * sleepers))
    await Promise.all(lane.#sleepers.map((sleeper) => sleeper.start()))
    return lane
  }

  /** Runs the transactions side by side and tells whether each task was worked on in time. */
  async attempt(plan: readonly Enqueuing[], deadlineMs: number): Promise<boolean> {
    const ids = await Promise.all(plan.map((enqueuing, index) => this.#enqueue(this.#enqueuers[index], enqueuing)))
    const done = Promise.all(ids.map((id) => this.#worked(id)))
    return within(done, { timeoutMs: deadlineMs }).then(
      () => true,
      () => false,
    )
  }

  async close(): Promise<void> {
    await Promise.all(this.#sleepers.map((sleeper) => sleeper.stop()))
  }

  async #enqueue(client: Client | undefined, plan: Enqueuing): Promise<string> {
    if (client === undefined) throw new Error('The lane has fewer enqueuers than the plan.')
    await pause(plan.beginAfter)
    await client.query(`begin isolation level ${plan.isolation}`)
    await client.query('select from tasks.types')
    await pause(plan.insertAfter)
    const { rows } = await client.query(
      `insert into tasks.${this.#table} (planned_to) values (clock_timestamp() + $1 * interval '1 ms') returning id::text`,
      [plan.dueAfter],
    )
    await pause(plan.commitAfter)
    await client.query('commit')
    return rows[0].id
  }

  async #worked(id: string): Promise<void> {
    if (this.#done.has(id)) return
    await new Promise<void>((resolve) => this.#waiting.set(id, resolve))
    this.#waiting.delete(id)
  }
}
