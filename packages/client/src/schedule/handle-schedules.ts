import {
  type DueSchedule,
  fireSchedules,
  planSchedules,
  type Queryable,
  type ScheduleFiring,
  type SchedulePlan,
} from '@pg-tasks/sql'
import { describeThrown } from '../errors/describe-thrown.js'
import { checkCron } from './cron.js'
import { firstOccurrence } from './occurrences.js'
import { planOccurrences } from './plan.js'

/** Dropped occurrences of a cron expression are counted up to here; each costs about 50 µs. */
const MOST_COUNTED = 500

/** Which schedule failed, and why. */
export interface FailedSchedule {
  readonly key: string
  readonly error: string
}

/** What one pass did. */
export interface PassResult {
  readonly fired: ReadonlyArray<{ readonly key: string; readonly enqueued: number; readonly dropped: number }>
  /** For a reason that may pass. */
  readonly failed: readonly FailedSchedule[]
  /** Set aside until somebody mends them. */
  readonly refused: readonly FailedSchedule[]
  /** Whether there may be more that is due. */
  readonly more: boolean
  /** Whether anything has changed, so that another look makes sense at once. */
  readonly handled: boolean
}

/**
 * Computes what is due of each schedule and hands it over, in the transaction that holds their rows; some `mostTasks` of all,
 * so that it stays short however long nobody ran. The rest stays due.
 */
export async function handleSchedules(
  session: Queryable,
  due: readonly DueSchedule[],
  { mostTasks, tzdata }: { readonly mostTasks: number; readonly tzdata: string | null },
): Promise<PassResult> {
  const maxDue = Math.max(1, Math.floor(mostTasks / due.length))
  const plans: SchedulePlan[] = []
  const firings: ScheduleFiring[] = []
  let capped = false
  for (const schedule of due) {
    try {
      if (!schedule.planned) {
        plans.push(firstPlan(schedule))
      } else {
        const plan = planOccurrences(schedule, schedule.now, { maxDue, maxCounted: MOST_COUNTED })
        capped ||= plan.capped
        firings.push({
          key: schedule.key,
          revision: schedule.revision,
          expected: schedule.nextAt as Date,
          nextAt: plan.nextAt,
          occurrences: plan.due,
          dropped: plan.droppedCount,
        })
      }
    } catch (error) {
      // One that can't be used, written by hand perhaps, is set aside; the others go on.
      plans.push(refusedPlan(schedule, error))
    }
  }
  await planSchedules(session, plans, tzdata)
  const results = await fireSchedules(session, firings, tzdata)
  const withOutcome = (outcome: string) => results.filter((result) => result.outcome === outcome)
  const droppedOf = new Map(firings.map(({ key, dropped }) => [key, dropped]))
  const fired = withOutcome('fired').map(({ key, enqueued }) => ({ key, enqueued, dropped: droppedOf.get(key) ?? 0 }))
  const refused = [...plans, ...withOutcome('refused')].flatMap(failedSchedule)
  return {
    fired,
    failed: withOutcome('failed').flatMap(failedSchedule),
    refused,
    more: capped || plans.length > 0 || withOutcome('left').length > 0,
    handled: fired.length > 0 || refused.length > 0,
  }
}

/** What is stored for a schedule that can't be used. */
export function refusedPlan({ key, revision }: DueSchedule, error: unknown): SchedulePlan {
  return { key, revision, nextAt: null, error: error instanceof Error ? error.message : describeThrown(error) }
}

/** From the instant at which it was written or resumed: never before that, and nothing after it is missed. */
function firstPlan(schedule: DueSchedule): SchedulePlan {
  const { key, revision, planAfter, cron, timezone } = schedule
  if (cron !== null) checkCron(cron, timezone)
  return { key, revision, nextAt: firstOccurrence(schedule, planAfter), error: null }
}

export function failedSchedule({
  key,
  error,
}: {
  readonly key: string
  readonly error: string | null
}): FailedSchedule[] {
  return error === null ? [] : [{ key, error }]
}
