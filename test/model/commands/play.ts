import type { Sleeper } from '../sleeper.js'
import type { Trial } from '../trial.js'

/** What a command acts on. The model's state is the world of the trial. */
export interface Play {
  readonly trial: Trial
  readonly sleeper: Sleeper
}

/** The sessions that commands speak for; the next one is the sleeper's. */
export const SESSIONS = 3
