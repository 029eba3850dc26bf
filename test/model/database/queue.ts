import type { Client } from 'pg'
import type { TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import type { Answer } from '../world/answer.js'
import type { Call } from '../world/call.js'
import { instant } from './instant.js'
import { type Observed, observe } from './observe.js'
import { prepareDatabase, type TypeName } from './prepare-database.js'
import { questionOf } from './question.js'
import { Sessions, type Told } from './sessions.js'
import { wrongEffects } from './wrong-effects.js'

/** The real queue, asked in the words of the model. */
export class Queue {
  readonly #control: Client
  readonly #sessions: Sessions
  readonly #tokens = new Map<number, string>()
  readonly #tasks = new Map<number, number>()
  #table: TypeName = 'kept'
  #heard = 0
  #marker = ''
  #markers = 0

  private constructor(control: Client, sessions: Sessions) {
    this.#control = control
    this.#sessions = sessions
    control.on('notification', ({ payload = '' }) => {
      if (payload.startsWith(MARKER)) this.#marker = payload
      else this.#heard += 1
    })
  }

  static async open(database: TestDatabase, sessions: number): Promise<Queue> {
    await prepareDatabase(database)
    const control = await database.client()
    await control.query('listen pg_tasks')
    return new Queue(control, await Sessions.open(database, control, sessions))
  }

  /** A new trial: nothing is there. */
  async clear(table: TypeName): Promise<void> {
    await this.#sessions.reset()
    await this.#control.query(
      `delete from tasks.kept; delete from tasks.gone; delete from tasks.leases; delete from model.effects;
       delete from model.undone; update model.clock set at = '${instant(0)}'`,
    )
    this.#tokens.clear()
    this.#tasks.clear()
    this.#table = table
    await this.observe()
  }

  async setClock(now: number): Promise<void> {
    await this.#control.query('update model.clock set at = $1', [instant(now)])
  }

  async ask(session: number, call: Call): Promise<void> {
    if (call.verb === 'cut') return await this.#sessions.cut(session)
    // A cursor of the session's last acquire would hide what is behind it for some milliseconds; which, only the machine knows.
    if (call.verb === 'acquire' && call.worker !== null) {
      const text = `select set_config('pg_tasks.cursor_' || 'tasks.${this.#table}'::regclass::oid, '', false)`
      this.#sessions.ask(session, { text, values: [] })
      await this.#sessions.told(session)
    }
    const naming = {
      table: this.#table,
      tokenOf: (run: number) => known(this.#tokens, run),
      taskOf: (run: number) => known(this.#tasks, run),
    }
    this.#sessions.ask(session, questionOf(call, naming))
  }

  /** What a call has brought; the runs that it began get the numbers that the model gave them. */
  async answer(session: number, call: Call, expected: Answer): Promise<Answer> {
    if (call.verb === 'cut') return { value: 'CUT' }
    return this.#read(call, await this.#sessions.told(session), expected)
  }

  /** Resolves when the session waits; with its answer if it doesn't. */
  async waits(session: number, call: Call): Promise<Answer | undefined> {
    const told = await this.#sessions.waits(session)
    return told && this.#read(call, told, { value: undefined })
  }

  /** What is committed, and how many notifications were heard since the last look. */
  async observe(): Promise<Observed & { readonly heard: number }> {
    this.#markers += 1
    const marker = `${MARKER}${this.#markers}`
    const observed = await observe(this.#control, this.#table, marker, (token) => this.#runOf(token))
    if (this.#marker !== marker)
      await waitFor(() => this.#marker === marker, { what: 'the marker behind the notifications' })
    const heard = this.#heard
    this.#heard = 0
    return { ...observed, heard }
  }

  /** @throws unless each task has the effects of exactly one finishing transaction for each time that it was finished */
  async checkEffects(): Promise<void> {
    const wrong = await wrongEffects(this.#control, this.#table)
    if (wrong.length > 0) throw new Error(`Finished more or less than once: ${JSON.stringify(wrong)}`)
  }

  #read(call: Call, told: Told, expected: Answer): Answer {
    if ('refused' in told) return told
    const rows = told.rows as readonly { readonly answer: unknown; readonly token: string }[]
    if (call.verb === 'begin' || call.verb === 'commit' || call.verb === 'rollback' || call.verb === 'insert')
      return { value: told.command }
    if (call.verb !== 'acquire') return { value: rows[0]?.answer ?? null }
    const runs = 'value' in expected ? (expected.runs ?? []) : []
    for (const [index, { answer, token }] of rows.entries()) {
      const run = runs[index]
      if (run === undefined) continue
      if (this.#runOf(token) !== null) throw new Error(`The token of run ${this.#runOf(token)} was given again.`)
      this.#tokens.set(run, token)
      this.#tasks.set(run, answer as number)
    }
    return { value: rows.map(({ answer }) => answer), runs }
  }

  /** -1: a token that nobody was given. */
  #runOf(token: string): number | null {
    for (const [run, known] of this.#tokens) if (known === token) return run
    return null
  }
}

const MARKER = 'marker '

function known<T>(names: ReadonlyMap<number, T>, run: number): T {
  const name = names.get(run)
  if (name === undefined) throw new Error(`Run ${run} was not begun.`)
  return name
}
