import { attempt } from '../verbs/attempt.js'
import type { Answer } from './answer.js'
import type { Call } from './call.js'
import { holderOf, sessionOf, withSession } from './rows.js'
import { committed, failed, rolledBack } from './transaction.js'
import type { Waiting, World } from './world.js'

/** What follows from one call: answers to it and to calls that waited for what it released. */
export interface Step {
  readonly world: World
  readonly answers: readonly Given[]
  /** How many notifications are heard, at least and at most. */
  readonly heard: { readonly least: number; readonly most: number }
}

export interface Given {
  readonly session: number
  readonly answer: Answer
}

/** One call of one session. No answer of that session's among the answers: it waits. */
export function perform(world: World, session: number, call: Call): Step {
  let step = tried(world, session, call, null)
  for (;;) {
    const ready = readyWaiter(step.world)
    if (ready === undefined) return step
    const next = tried(step.world, ready.session, ready.waiting.call, ready.waiting)
    step = {
      world: next.world,
      answers: [...step.answers, ...next.answers],
      heard: { least: step.heard.least + next.heard.least, most: step.heard.most + next.heard.most },
    }
  }
}

const SILENCE = { least: 0, most: 0 }

function tried(before: World, session: number, call: Call, waiting: Waiting | null): Step {
  const tried = attempt(before, session, call, waiting?.seen)
  if ('waitsFor' in tried) {
    const { waitsFor: lock, seen } = tried
    return { world: withSession(before, session, { waiting: { call, lock, seen } }), answers: [], heard: SILENCE }
  }
  const { answer } = tried
  const answers = [{ session, answer }]
  const world = withSession(tried.world, session, { waiting: null })
  const { open, notifies } = sessionOf(world, session)
  if ('refused' in answer)
    return { world: open ? failed(world, session) : rolledBack(world, session), answers, heard: SILENCE }
  if (open) return { world, answers, heard: SILENCE }
  const heard = { least: notifies === 'yes' ? 1 : 0, most: notifies === 'no' ? 0 : 1 }
  return { world: committed(world, session), answers, heard }
}

function readyWaiter(world: World): { session: number; waiting: Waiting } | undefined {
  for (const [session, { waiting }] of world.sessions.entries()) {
    if (waiting !== null && holderOf(world, session, waiting.lock) === undefined) return { session, waiting }
  }
  return undefined
}
