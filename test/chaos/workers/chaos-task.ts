import { type Claimed, Task, type TaskContext } from '@pg-tasks/client'
import type { ChaosType, Own } from '../load/task-types.js'
import type { HandlerTools } from './handler-tools.js'
import { handlers } from './handlers.js'

/** A task type of the chaos: notes the beginning and the end of each run, and does what the row's kind says between. */
export class ChaosTask extends Task<Own> {
  readonly #tools: HandlerTools

  constructor(type: ChaosType, tools: HandlerTools) {
    super({ schema: 'chaos', table: type.table, settle: type.oneTransaction ? 'one_transaction' : 'each' })
    this.#tools = tools
  }

  override async run(task: Claimed<Own>, context: TaskContext): Promise<void> {
    const { history, workerId } = this.#tools
    const run = this.#tools.keyOf(this, task)
    history.write('run_started', { ...run, kind: task.kind, workerId })
    context.signal.addEventListener('abort', () => {
      history.write('run_aborted', { ...run, reason: String((context.signal.reason as Error).message) })
    })
    this.#tools.blockIfAsked()
    try {
      await handlers[task.kind]({ self: this, task, context, run, tools: this.#tools })
      history.write('run_ended', run)
    } catch (error) {
      history.write('run_ended', { ...run, threw: String(error) })
      throw error
    }
  }
}
