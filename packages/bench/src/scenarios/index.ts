import { drain } from './drain.js'
import { drainSingle } from './drain-single.js'
import { drainTransactional } from './drain-transactional.js'
import { enqueueBulk } from './enqueue-bulk.js'
import { enqueueSingle } from './enqueue-single.js'
import { latency } from './latency.js'
import { planned } from './planned.js'
import type { Scenario } from './scenario.js'

/** All scenarios, in the order in which they run. */
export const SCENARIOS: readonly Scenario[] = [
  drain,
  drainTransactional,
  drainSingle,
  enqueueSingle,
  enqueueBulk,
  latency,
  planned,
]
