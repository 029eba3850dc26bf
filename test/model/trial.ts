import { isDeepStrictEqual } from 'node:util'
import { TYPES, type TypeName } from './database/prepare-database.js'
import type { Queue } from './database/queue.js'
import { describeAnswer, describeCall, sessionName } from './describe.js'
import type { Answer } from './world/answer.js'
import type { Call } from './world/call.js'
import { perform, type Step } from './world/perform.js'
import { sessionOf } from './world/rows.js'
import { newWorld, type World } from './world/world.js'

/** Asks the queue what the model is asked, and throws where they differ. */
export class Trial {
  readonly #queue: Queue
  #world: World
  readonly #history: string[] = []

  private constructor(queue: Queue, world: World) {
    this.#queue = queue
    this.#world = world
  }

  static async begin(queue: Queue, table: TypeName, sessions: number): Promise<Trial> {
    await queue.clear(table)
    return new Trial(queue, newWorld(TYPES[table], sessions))
  }

  /** What there is after all calls up to now, as the model and the queue agree. */
  get world(): World {
    return this.#world
  }

  /** All that happened, a line for each call. */
  get history(): readonly string[] {
    return this.#history
  }

  async pass(ms: number): Promise<void> {
    this.#world = { ...this.#world, now: this.#world.now + ms }
    this.#history.push(`${ms} ms pass`)
    await this.#queue.setClock(this.#world.now)
  }

  /** Returns the answer to the call (undefined: it waits) and how many notifications were heard. */
  async perform(session: number, call: Call): Promise<{ answer: Answer | undefined; heard: number }> {
    const step = perform(this.#world, session, call)
    await this.#queue.ask(session, call)
    const own = step.answers.find((given) => given.session === session)
    this.#history.push(`${sessionName(session)}: ${describeCall(call)} → ${own ? describeAnswer(own.answer) : 'waits'}`)
    if (own === undefined) {
      const answer = await this.#queue.waits(session, call)
      if (answer !== undefined) this.#differ('An answer where the model says that it waits', 'waits', answer)
    }
    for (const { session: who, answer: expected } of step.answers) {
      const asked = who === session ? call : (sessionOf(this.#world, who).waiting?.call ?? call)
      if (who !== session)
        this.#history.push(`   ${sessionName(who)}: ${describeCall(asked)} → ${describeAnswer(expected)}`)
      const answer = await this.#queue.answer(who, asked, expected)
      if (!isDeepStrictEqual(answer, expected))
        this.#differ(`Another answer to ${sessionName(who)} (${describeCall(asked)})`, expected, answer)
    }
    this.#world = step.world
    return { answer: own?.answer, heard: await this.#compare(step) }
  }

  async #compare({ world, heard: expected }: Step): Promise<number> {
    const { tasks, leases, heard } = await this.#queue.observe()
    for (const [name, model, real] of [
      ['tasks', [...world.rows.tasks.values()].toSorted((one, other) => one.id - other.id), tasks],
      ['leases', [...world.rows.leases.values()].toSorted((one, other) => one.worker - other.worker), leases],
    ] as const) {
      if (isDeepStrictEqual(model, real)) continue
      const same = (one: object, others: readonly object[]) => others.some((other) => isDeepStrictEqual(one, other))
      this.#differ(
        `Other ${name}`,
        model.filter((row) => !same(row, real)),
        real.filter((row) => !same(row, model)),
      )
    }
    if (heard < expected.least || heard > expected.most) this.#differ('Other notifications', expected, heard)
    return heard
  }

  #differ(what: string, model: unknown, real: unknown): never {
    throw new Difference(what, model, real)
  }
}

/** The queue does something else than the model. */
class Difference extends Error {
  constructor(what: string, model: unknown, real: unknown) {
    super(`${what}.\n  model: ${JSON.stringify(model)}\n  queue: ${JSON.stringify(real)}`)
    this.name = 'Difference'
  }
}
