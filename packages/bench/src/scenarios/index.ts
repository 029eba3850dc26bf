import { acquireCost } from './acquire-cost.js'
import { drain } from './drain.js'
import { drainSingle } from './drain-single.js'
import { drainTransactional } from './drain-transactional.js'
import { enqueueBulk } from './enqueue-bulk.js'
import { enqueueSingle } from './enqueue-single.js'
import { heartbeats } from './heartbeats.js'
import { inserts } from './inserts.js'
import { latency } from './latency.js'
import { pinnedSnapshot } from './pinned-snapshot.js'
import { planned } from './planned.js'
import { processes } from './processes.js'
import type { Scenario } from './scenario.js'
import { serverLimit } from './server-limit.js'
import { soak } from './soak.js'
import { wideRows } from './wide-rows.js'

/** All scenarios, in the order in which they run. */
export const SCENARIOS: readonly Scenario[] = [
  drain,
  drainTransactional,
  drainSingle,
  serverLimit,
  enqueueSingle,
  enqueueBulk,
  latency,
  planned,
  inserts,
  acquireCost,
  processes,
  wideRows,
  pinnedSnapshot,
  heartbeats,
  soak,
]
