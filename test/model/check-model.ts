import { asyncModelRun, asyncProperty, check, constantFrom } from 'fast-check'
import { modelCommands } from './commands/commands.js'
import { SESSIONS } from './commands/play.js'
import type { TypeName } from './database/prepare-database.js'
import type { Queue } from './database/queue.js'
import { describeFailure } from './describe-failure.js'
import { drain } from './drain.js'
import { Sleeper } from './sleeper.js'
import { Trial } from './trial.js'

/** The sleeper's session and worker come after those of the commands. */
export const ALL_SESSIONS = SESSIONS + 1
const SLEEPERS_WORKER = 3

export interface CheckModelOptions {
  readonly seed: number
  readonly runs: number
  /** Of a failure that is to be seen again. */
  readonly path?: string | undefined
  readonly replayPath?: string | undefined
  /**
   * Whether a failure is made as short as possible.
   *
   * @defaultValue true
   */
  readonly shrink?: boolean
  /** @defaultValue 80 */
  readonly maxCommands?: number
  /** Is told what happened in each run. */
  readonly onRun?: (history: readonly string[]) => void
}

/** Runs command sequences until the queue differs from the model; the text that tells of it, undefined if it never does. */
export async function checkModel(queue: Queue, options: CheckModelOptions): Promise<string | undefined> {
  const { seed, runs, path, replayPath, shrink = true, maxCommands = 80 } = options
  const property = asyncProperty(
    constantFrom<TypeName>('kept', 'gone'),
    modelCommands(maxCommands, replayPath),
    async (table, commands) => {
      const trial = await Trial.begin(queue, table, ALL_SESSIONS)
      const sleeper = new Sleeper(trial, SESSIONS, SLEEPERS_WORKER)
      try {
        await asyncModelRun(() => ({ model: { trial, sleeper }, real: { trial, sleeper } }), commands)
        await drain(trial)
        await queue.checkEffects()
        options.onRun?.(trial.history)
      } catch (error) {
        const history = trial.history.map((line) => `  ${line}`)
        throw new Error([(error as Error).message, '', `  task type: ${table}`, ...history].join('\n'), {
          cause: error,
        })
      }
    },
  )
  const result = await check(property, {
    seed,
    numRuns: runs,
    unbiased: true,
    endOnFailure: !shrink,
    ...(path === undefined ? {} : { path }),
  })
  if (!result.failed) return undefined
  return describeFailure(result)
}
