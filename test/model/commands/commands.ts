import { type Arbitrary, type AsyncCommand, commands, constant, constantFrom, record } from 'fast-check'
import { Act, Pass, SleeperStep } from './act.js'
import { CHOICES } from './choices.js'
import { meeting, suspicion, takeover, unknownCommit } from './meetings.js'
import { type Play, SESSIONS } from './play.js'

type Commands = Iterable<AsyncCommand<Play, Play>>

const session = constantFrom(...Array.from({ length: SESSIONS }, (_, index) => index))

const acts = Object.entries(CHOICES).flatMap(([name, { weight, choose }]) =>
  repeated(
    weight,
    record({ session, choose }).map((ask) => new Act(name, [ask.session, ask.choose])),
  ),
)

/** From an instant to more than a lease. */
const pass = constantFrom(1, 999, 1_000, 30_000, 59_999, 60_000, 600_000).map((ms) => new Pass(ms))

/** Sequences of what sessions ask, of time that passes, and of the sleeper's steps. */
export function modelCommands(maxCommands: number, replayPath?: string): Arbitrary<Commands> {
  return commands<Play, Play, false>(
    [
      ...acts,
      unknownCommit,
      ...repeated(2, suspicion),
      ...repeated(3, takeover),
      ...repeated(6, meeting),
      ...repeated(4, pass),
      ...repeated(4, constant(new SleeperStep())),
    ],
    { maxCommands, size: 'max', ...(replayPath === undefined ? {} : { replayPath }) },
  )
}

function repeated<T>(times: number, arbitrary: Arbitrary<T>): readonly Arbitrary<T>[] {
  return Array.from({ length: times }, () => arbitrary)
}
