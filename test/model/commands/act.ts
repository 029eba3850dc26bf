import type { AsyncCommand } from 'fast-check'
import { sessionName } from '../describe.js'
import type { Call } from '../world/call.js'
import { isPossible } from '../world/is-possible.js'
import type { World } from '../world/world.js'
import type { Play } from './play.js'

/** What a session asks, of the tasks and runs that there are when it comes to it; undefined: there is nothing to ask. */
export type Choose = (world: World) => Call | undefined

/** Some sessions ask something, one after the other; what isn't possible after the first is left out. */
export class Act implements AsyncCommand<Play, Play> {
  readonly #name: string
  readonly #asks: readonly (readonly [session: number, choose: Choose])[]

  constructor(name: string, ...asks: readonly (readonly [session: number, choose: Choose])[]) {
    this.#name = name
    this.#asks = asks
  }

  check({ trial }: Play): boolean {
    const [first] = this.#asks
    const call = first?.[1](trial.world)
    return first !== undefined && call !== undefined && isPossible(trial.world, first[0], call)
  }

  async run({ trial, sleeper }: Play): Promise<void> {
    for (const [session, choose] of this.#asks) {
      const call = choose(trial.world)
      if (call === undefined || !isPossible(trial.world, session, call)) continue
      const { heard } = await trial.perform(session, call)
      sleeper.hear(heard)
      sleeper.check(trial.world)
    }
  }

  toString(): string {
    return `${sessionName(this.#asks[0]?.[0] ?? 0)}: ${this.#name}`
  }
}

/** Time passes. */
export class Pass implements AsyncCommand<Play, Play> {
  readonly #ms: number

  constructor(ms: number) {
    this.#ms = ms
  }

  check(): boolean {
    return true
  }

  async run({ trial }: Play): Promise<void> {
    await trial.pass(this.#ms)
  }

  toString(): string {
    return `${this.#ms} ms pass`
  }
}

/** The sleeper goes on with what leads to its sleep. */
export class SleeperStep implements AsyncCommand<Play, Play> {
  check({ sleeper }: Play): boolean {
    return sleeper.canStep
  }

  async run({ trial, sleeper }: Play): Promise<void> {
    await sleeper.step()
    sleeper.check(trial.world)
  }

  toString(): string {
    return 'the sleeper goes on'
  }
}
