import type { Trial } from './trial.js'
import type { NextDue } from './verbs/next-due.js'
import type { Call } from './world/call.js'
import { isPossible } from './world/is-possible.js'
import { isWaiting } from './world/task-row.js'
import type { World } from './world/world.js'

type State = 'up' | 'awake' | 'drowsy' | 'asleep'

/**
 * A worker of which there is only the sleep, as the head of migration 0002 tells it, in steps between which others act: up, awake
 * (it holds AWAKE and has looked), drowsy (it holds SLEEP), asleep (nothing was in flight once, and it has looked again).
 */
export class Sleeper {
  readonly #trial: Trial
  readonly #session: number
  readonly #worker: number
  #state: State = 'up'
  #keepsAwake = false
  #woken = false
  /** Until when it sleeps if nobody wakes it. */
  #until = 0

  constructor(trial: Trial, session: number, worker: number) {
    this.#trial = trial
    this.#session = session
    this.#worker = worker
  }

  /** Whether it can look: the model doesn't say what an acquire does whose lease is locked. */
  get canStep(): boolean {
    return isPossible(this.#trial.world, this.#session, this.#acquire)
  }

  hear(notifications: number): void {
    if (notifications > 0) this.#woken = true
  }

  async step(): Promise<void> {
    if (this.#state === 'up') await this.#stayAwake()
    else if (this.#state === 'awake') await this.#fallAsleep()
    else if (this.#woken) await this.#rise()
    else if (this.#state === 'drowsy') await this.#lookAgain()
    else if (this.#trial.world.now >= this.#until) await this.#rise()
  }

  /** @throws if it sleeps, and will not be woken in time for a task that waits */
  check({ rows }: World): void {
    if (this.#state !== 'asleep' || this.#woken) return
    const unseen = [...rows.tasks.values()].find((task) => isWaiting(task) && task.plannedTo < this.#until)
    if (unseen !== undefined)
      throw new Error(
        `The sleeper sleeps until ${this.#until} and was not woken for task ${unseen.id}, planned to ${unseen.plannedTo}.`,
      )
  }

  async #stayAwake(): Promise<void> {
    this.#keepsAwake = (await this.#ask({ verb: 'stayAwake' })) === true
    await this.#look()
    this.#state = 'awake'
  }

  async #fallAsleep(): Promise<void> {
    this.#woken = false
    await this.#ask({ verb: 'fallAsleep' })
    if (this.#keepsAwake) await this.#ask({ verb: 'stopAwake' })
    this.#state = 'drowsy'
  }

  async #lookAgain(): Promise<void> {
    if (await this.#look()) return await this.#rise()
    if (!(await this.#ask({ verb: 'nothingInFlight' }))) return
    if (await this.#look()) return await this.#rise()
    const { readyIn } = (await this.#ask({ verb: 'nextDue', worker: this.#worker, slotsEmpty: true })) as NextDue
    // What is due and can't be taken is tried again before long, which isn't sleep.
    if (readyIn === 0) return await this.#rise()
    this.#until = readyIn === null ? Number.POSITIVE_INFINITY : this.#trial.world.now + readyIn
    this.#state = 'asleep'
  }

  async #rise(): Promise<void> {
    await this.#ask({ verb: 'wakeUp' })
    this.#state = 'up'
  }

  /** Takes what is due and finishes it; whether there was something. */
  async #look(): Promise<boolean> {
    const firstRun = this.#trial.world.runs.length + 1
    const ids = (await this.#ask(this.#acquire)) as readonly number[]
    for (const [index, task] of ids.entries()) await this.#ask({ verb: 'finish', task, run: firstRun + index })
    return ids.length > 0
  }

  get #acquire(): Call {
    return { verb: 'acquire', max: 2, worker: this.#worker, slotsEmpty: true }
  }

  async #ask(call: Call): Promise<unknown> {
    const { answer, heard } = await this.#trial.perform(this.#session, call)
    this.hear(heard)
    return answer !== undefined && 'value' in answer ? answer.value : undefined
  }
}
