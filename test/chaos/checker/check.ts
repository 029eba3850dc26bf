import { acknowledgedStays } from './acknowledged-stays.js'
import { effectsAreExactlyOnce } from './effects-are-exactly-once.js'
import type { Evidence, Violation } from './evidence.js'
import { executionsAreCounted } from './executions-are-counted.js'
import { faultsWork } from './faults-work.js'
import { groupsEndOnce } from './groups-end-once.js'
import { heapStaysFlat } from './heap-stays-flat.js'
import { leasesAreKept } from './leases-are-kept.js'
import { limitsHold } from './limits-hold.js'
import { noTaskIsLost } from './no-task-is-lost.js'
import { nothingIsInvented } from './nothing-is-invented.js'
import { nothingIsLeft } from './nothing-is-left.js'
import { nothingIsStuck } from './nothing-is-stuck.js'
import { oneRunSettles } from './one-run-settles.js'
import { processesEndWhenAsked } from './processes-end-when-asked.js'
import { schedulesMissNothing } from './schedules-miss-nothing.js'
import { slotsHold } from './slots-hold.js'
import { stepsAreDoneOnce } from './steps-are-done-once.js'
import { tasksRunOnTime } from './tasks-run-on-time.js'
import { uniqueHolds } from './unique-holds.js'

const CHECKS: ReadonlyArray<(evidence: Evidence) => Violation[]> = [
  noTaskIsLost,
  nothingIsInvented,
  effectsAreExactlyOnce,
  oneRunSettles,
  executionsAreCounted,
  acknowledgedStays,
  stepsAreDoneOnce,
  leasesAreKept,
  nothingIsStuck,
  tasksRunOnTime,
  schedulesMissNothing,
  limitsHold,
  uniqueHolds,
  groupsEndOnce,
  slotsHold,
  processesEndWhenAsked,
  heapStaysFlat,
  nothingIsLeft,
  faultsWork,
]

/** All that must never be and was. */
export function check(evidence: Evidence): Violation[] {
  return CHECKS.flatMap((one) => one(evidence))
}
