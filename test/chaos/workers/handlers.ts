import { setTimeout as delay } from 'node:timers/promises'
import { CancelTask, type Claimed, inTransaction, RetryTask, type Task, type TaskContext } from '@pg-tasks/client'
import type { RunKey } from '../history-events.js'
import type { Kind, Own } from '../load/task-types.js'
import { type HandlerTools, outcomeOf, PlannedError } from './handler-tools.js'

/** One run, as a handler sees it. */
export interface HandlerInput {
  readonly self: Task<Own>
  readonly task: Claimed<Own>
  readonly context: TaskContext
  readonly run: RunKey
  readonly tools: HandlerTools
}

type Handler = (input: HandlerInput) => Promise<void>

const RETRY_MS = 200

/** What each kind of task does. */
export const handlers: Readonly<Record<Kind, Handler>> = {
  return: work,

  async effect(input) {
    await work(input)
    await input.tools.finishWithEffect(input.self, input.task)
  },

  async repeat(input) {
    await work(input)
    try {
      await input.tools.finishWithEffect(input.self, input.task)
    } catch (error) {
      if (outcomeOf(error) === 'refused') throw error
      await delay(RETRY_MS)
      await input.tools.finishWithEffect(input.self, input.task)
    }
  },

  async throw_before_commit(input) {
    await work(input)
    await input.tools.finishWithEffect(input.self, input.task, {
      after: async () => {
        if (fails(input)) throw new PlannedError('thrown before COMMIT')
      },
    })
  },

  async throw_after_commit(input) {
    await work(input)
    await input.tools.finishWithEffect(input.self, input.task)
    throw new PlannedError('thrown after COMMIT')
  },

  async throw(input) {
    await work(input)
    if (fails(input)) throw new PlannedError('thrown')
  },

  async retry_task(input) {
    await work(input)
    if (fails(input)) throw new RetryTask({ delayMs: RETRY_MS })
  },

  async retry_itself(input) {
    await work(input)
    if (!fails(input)) return input.tools.finishWithEffect(input.self, input.task)
    await inTransaction(input.tools.pool, async (transaction) => {
      await input.tools.writeEffect(transaction, 'retry', input.run)
      await input.self.retry(transaction, input.task, { delayMs: RETRY_MS })
    })
  },

  async cancel_task(input) {
    await work(input)
    throw new CancelTask('canceled by its handler')
  },

  async steps(input) {
    const { context, run, tools, self, task } = input
    await work(input)
    await outsideStep(input)
    await work(input)
    await tools.finishWithEffect(self, task, {
      before: (transaction) => context.once(transaction, 'inside', () => tools.writeEffect(transaction, 'step', run)),
    })
  },

  async in_batch(input) {
    await work(input)
    await input.tools.writeEffect(input.context.tx, 'finish', input.run)
    if (fails(input)) throw new PlannedError('thrown in its batch')
  },

  async deaf(input) {
    await delay(input.task.work_ms)
    await input.tools.finishWithEffect(input.self, input.task)
  },
}

async function work({ task, context }: HandlerInput): Promise<void> {
  if (task.work_ms > 0) await delay(task.work_ms, undefined, { signal: context.signal })
}

function fails({ task }: HandlerInput): boolean {
  return task.execution_count <= task.fails
}

/** The history is the outside service: what is written there nobody takes back. */
async function outsideStep({ context, run, task, tools }: HandlerInput): Promise<void> {
  const step = 'outside'
  try {
    await context.once(step, async ({ idempotencyKey }) => {
      tools.history.write('outside_done', { ...run, step, key: idempotencyKey })
      // The gap: between what was done outside and its mark.
      await delay(task.work_ms)
    })
    tools.history.write('step_ended', { ...run, step, outcome: 'acknowledged' })
  } catch (error) {
    tools.history.write('step_ended', { ...run, step, outcome: outcomeOf(error), error: String(error) })
    throw error
  }
}
