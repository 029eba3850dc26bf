import { InvalidArgumentError } from '../errors/invalid-argument-error.js'
import { named } from '../options/named.js'

/** What the SQL functions take as longest interval. */
const LONGEST_YEARS = 1_000
const LONGEST_MS = LONGEST_YEARS * 365 * 24 * 3_600_000

/** @throws InvalidArgumentError unless it is a delay that the database can add to its clock */
function checkDelay(delayMs: number | undefined): void {
  if (delayMs === undefined || (Number.isFinite(delayMs) && delayMs >= 0 && delayMs <= LONGEST_MS)) return
  throw new InvalidArgumentError(
    'delayMs',
    `must be a number of milliseconds from 0 to ${LONGEST_YEARS} years, not ${named(delayMs)}.`,
  )
}

/** @throws InvalidArgumentError unless it says at most once when new tasks are due */
export function checkDueTime(
  tasks: ReadonlyArray<{ readonly planned_to?: unknown }>,
  delayMs: number | undefined,
): void {
  checkDelay(delayMs)
  if (delayMs === undefined || tasks.every((task) => task.planned_to === undefined)) return
  throw new InvalidArgumentError('delayMs', 'is given besides planned_to: give one of them.')
}

/** @throws InvalidArgumentError unless it says at most once when the task runs again */
export function checkRetryTime(options: {
  readonly delayMs?: number | undefined
  readonly plannedTo?: Date | undefined
}): void {
  const { delayMs, plannedTo } = options
  checkDelay(delayMs)
  if (plannedTo === undefined) return
  if (!(plannedTo instanceof Date) || Number.isNaN(plannedTo.getTime())) {
    throw new InvalidArgumentError('plannedTo', 'must be a valid Date.')
  }
  if (delayMs !== undefined) throw new InvalidArgumentError('plannedTo', 'is given besides delayMs: give one of them.')
}
