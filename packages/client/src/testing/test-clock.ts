import {
  type Connection,
  installTestClock,
  moveTestClock,
  readTestClock,
  removeTestClock,
  toQueryable,
} from '@pg-tasks/sql'
import { InvalidArgumentError } from '../errors/invalid-argument-error.js'
import { checkOptions } from '../options/check-options.js'
import { callback, flag } from '../options/checks.js'

/** How a {@link TestClock} behaves. */
export interface TestClockOptions {
  /**
   * Whether time stands still between the calls that move it.
   * @defaultValue false
   */
  readonly frozen?: boolean
  /**
   * Called after each move of the database's time, to move the timers of JavaScript along: `(byMs) =>
   * vi.advanceTimersByTimeAsync(byMs)`, or `(_, now) => jest.setSystemTime(now)`.
   * @defaultValue none
   */
  readonly moveTimers?: (byMs: number, now: Date) => unknown
}

/** The clock of a test's database: `tasks.clock()`, which decides what is due and what has expired. */
export interface TestClock {
  /** What time it is there. */
  now(): Promise<Date>
  /** Moves time on; workers look at once for what is due now. Their leases move along, as if they had been renewed. */
  advance(byMs: number): Promise<void>
  /** Moves time to an instant; back, too. */
  set(now: Date): Promise<void>
  /** Gives the database its own clock again. */
  restore(): Promise<void>
}

/**
 * Puts a clock that a test moves in the place of the database's. It holds for the whole database, so use one that is a test's
 * own; in a transaction that is rolled back it holds for that, while other tests on the database wait for its end.
 *
 * @param connection - as the owner of the schema `tasks` and of the task tables
 * @throws InvalidOptionError that names the option; the database's error if the role may not do it
 *
 * @example
 * const clock = await startTestClock(pool)
 * await clock.advance(24 * 3_600_000)
 * await drain(pool, [sendReminder])
 * await clock.restore()
 */
export async function startTestClock(connection: Connection, options: TestClockOptions = {}): Promise<TestClock> {
  const { frozen, moveTimers } = checkOptions<Required<TestClockOptions>>('startTestClock', options, {
    frozen: flag({ default: false }),
    moveTimers: callback({ default: () => {} }),
  })
  const queryable = toQueryable(connection)
  await installTestClock(queryable, { frozen })
  const move = async (byMs: number): Promise<void> => {
    const now = await moveTestClock(queryable, byMs)
    await moveTimers(byMs, now)
  }
  return Object.freeze({
    now: () => readTestClock(queryable),
    advance: async (byMs: number) => {
      if (!(Number.isFinite(byMs) && byMs >= 0)) {
        throw new InvalidArgumentError(
          'byMs',
          'must be a number of milliseconds that is not negative; set() goes back.',
        )
      }
      await move(byMs)
    },
    set: async (now: Date) => {
      if (!(now instanceof Date) || Number.isNaN(now.getTime())) {
        throw new InvalidArgumentError('now', 'must be a Date that is valid.')
      }
      await move(now.getTime() - (await readTestClock(queryable)).getTime())
    },
    restore: () => removeTestClock(queryable),
  })
}
