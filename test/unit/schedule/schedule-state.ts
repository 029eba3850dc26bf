import type { OccurrencePlan, ScheduleState } from '../../../packages/client/src/schedule/plan.js'
import { resolveScheduleTiming, type ScheduleTimingOptions } from '../../../packages/client/src/schedule/timing.js'
import { shortIso } from './occurrence-list.js'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** A stored schedule whose watermark stands at `nextAt`. */
export function scheduleDueSince(nextAt: string | null, options: ScheduleTimingOptions, runs = 0): ScheduleState {
  return { ...resolveScheduleTiming(options), nextAt: nextAt === null ? null : new Date(nextAt), runs }
}

/** The schedule after a pass has written its plan. */
export function afterPass(schedule: ScheduleState, plan: OccurrencePlan): ScheduleState {
  return { ...schedule, nextAt: plan.nextAt, runs: schedule.runs + plan.due.length }
}

/** A plan in a form that a test can show in a line or two. */
export function summaryOf(plan: OccurrencePlan) {
  const { due, droppedCount, droppedFrom, droppedTo, nextAt } = plan
  return {
    due: due.map(({ occurrenceAt, trigger }) => `${shortIso(occurrenceAt)} ${trigger}`),
    dropped:
      droppedFrom === null || droppedTo === null
        ? null
        : `${droppedCount}: ${shortIso(droppedFrom)} … ${shortIso(droppedTo)}`,
    nextAt: nextAt === null ? null : shortIso(nextAt),
  }
}
