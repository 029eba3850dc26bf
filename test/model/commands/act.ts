import type { AsyncCommand } from 'fast-check'
import { sessionName } from '../describe.js'
import type { Call } from '../world/call.js'
import { isPossible } from '../world/is-possible.js'
import type { World } from '../world/world.js'
import type { Play } from './play.js'

/** What a session asks, of the tasks and runs that there are when it comes to it; undefined: there is nothing to ask. */
export type Choose = (world: World) => Call | undefined

/** One session asks something, or time passes. */
export type Part = readonly [session: number, choose: Choose] | { readonly passMs: number }

/** Some sessions ask something, one after the other; what isn't possible after the first is left out. */
export class Act implements AsyncCommand<Play, Play> {
  readonly #name: string
  readonly #first: readonly [session: number, choose: Choose]
  readonly #others: readonly Part[]

  constructor(name: string, first: readonly [session: number, choose: Choose], ...others: readonly Part[]) {
    this.#name = name
    this.#first = first
    this.#others = others
  }

  check({ trial }: Play): boolean {
    const [session, choose] = this.#first
    const call = choose(trial.world)
    return call !== undefined && isPossible(trial.world, session, call)
  }

  async run(play: Play): Promise<void> {
    for (const part of [this.#first, ...this.#others]) {
      if ('passMs' in part) await play.trial.pass(part.passMs)
      else await ask(play, ...part)
    }
  }

  toString(): string {
    return `${sessionName(this.#first[0])}: ${this.#name}`
  }
}

async function ask({ trial, sleeper }: Play, session: number, choose: Choose): Promise<void> {
  const call = choose(trial.world)
  if (call === undefined || !isPossible(trial.world, session, call)) return
  const { heard } = await trial.perform(session, call)
  sleeper.hear(heard)
  sleeper.check(trial.world)
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
