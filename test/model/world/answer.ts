import type { Lock, Seen, World } from './world.js'

/** What a call brings: a value, or the SQLSTATE with which it is refused. */
export type Answer =
  | {
      readonly value: unknown
      /** The runs that it began, in the order of the value. */
      readonly runs?: readonly number[]
    }
  | { readonly refused: string }

/** A call that is tried: it is answered in a changed world, or has to wait for a row. */
export type Attempt =
  | { readonly world: World; readonly answer: Answer }
  | { readonly waitsFor: Lock; readonly seen: Seen }

export function answered(world: World, value: unknown, runs?: readonly number[]): Attempt {
  return { world, answer: runs === undefined ? { value } : { value, runs } }
}

export function refused(world: World, code: string): Attempt {
  return { world, answer: { refused: code } }
}
