import { planSchedules, type SchedulePlan, staleSchedules } from '@pg-tasks/sql'
import { type FailedSchedule, failedSchedule, refusedPlan } from './handle-schedules.js'
import { replanNextAt } from './plan.js'
import type { SchedulerSession } from './scheduler.js'

const SCHEDULES_PER_TRANSACTION = 500

/**
 * Plans by the rules of this process what is still ahead and was planned by older ones; what was due already stays due. Returns
 * those that had to be set aside.
 */
export async function replanSchedules(
  session: SchedulerSession,
  tzdata: string,
  signal: AbortSignal,
): Promise<FailedSchedule[]> {
  const refused: FailedSchedule[] = []
  for (let more = true; more && !signal.aborted; ) {
    const plans = await session.transaction(async (transaction) => {
      const stale = await staleSchedules(transaction, tzdata, SCHEDULES_PER_TRANSACTION)
      const replanned = stale.map((schedule): SchedulePlan => {
        try {
          const { key, revision } = schedule
          return { key, revision, nextAt: replanNextAt(schedule, schedule.now), error: null }
        } catch (error) {
          return refusedPlan(schedule, error)
        }
      })
      await planSchedules(transaction, replanned, tzdata)
      return replanned
    })
    refused.push(...plans.flatMap(failedSchedule))
    more = plans.length === SCHEDULES_PER_TRANSACTION
  }
  return refused
}
