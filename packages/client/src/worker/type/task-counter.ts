import { countTasks, type TaskState, typeOverviews } from '@pg-tasks/sql'
import { ClosedError } from '../../errors/connection-errors.js'
import type { TypeReference } from '../worker-events.js'
import type { WorkerSession } from '../worker-session.js'

/** How many tasks of a type there are. */
export interface TypeCounts extends TypeReference {
  /** Tasks per state: exact up to 10,000, beyond that about as many as the database has noted. */
  readonly states: Readonly<Record<TaskState, number>>
  /** How long the oldest task that waits has been due, in milliseconds; null: none is due. */
  readonly oldestDueMs: number | null
}

/** Counts tasks on a session of its own, opened when it is first asked: whoever waits for a count holds up nothing else. */
export class TaskCounter {
  readonly #open: () => WorkerSession
  readonly #types: () => Iterable<TypeReference>
  #session: WorkerSession | undefined
  #pending: Promise<readonly TypeCounts[]> | undefined
  #closed = false

  constructor(open: () => WorkerSession, types: () => Iterable<TypeReference>) {
    this.#open = open
    this.#types = types
  }

  /** Those who ask at the same time share the answer. */
  counts(): Promise<readonly TypeCounts[]> {
    this.#pending ??= this.#count().finally(() => {
      this.#pending = undefined
    })
    return this.#pending
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#session?.close()
  }

  async #count(): Promise<readonly TypeCounts[]> {
    if (this.#closed) throw new ClosedError('The worker')
    this.#session ??= this.#open()
    const counts: TypeCounts[] = []
    for (const { schema, table } of this.#types()) {
      const [type] = await typeOverviews(this.#session, { schema, table })
      if (type === undefined || !type.mayRead) continue
      const { states, oldestDueMs } = await countTasks(this.#session, type, type.keyColumns !== null)
      counts.push({ schema, table, states: numbersOf(states), oldestDueMs })
    }
    return counts
  }
}

function numbersOf(states: Readonly<Record<TaskState, { readonly count: number }>>): Record<TaskState, number> {
  const numbers = Object.entries(states).map(([state, { count }]) => [state, count])
  return Object.fromEntries(numbers) as Record<TaskState, number>
}
