import { acquireCost } from './acquire-cost.js'
import { bulk } from './bulk.js'
import { copy } from './copy.js'
import { drain } from './drain.js'
import { enqueue } from './enqueue.js'
import { heartbeats } from './heartbeats.js'
import { inserts } from './inserts.js'
import { idle, latency, planned } from './latency.js'
import { pinnedSnapshot } from './pinned-snapshot.js'
import { processes } from './processes.js'
import { serverLimit } from './server-limit.js'
import { soak } from './soak.js'
import type { Trial, TrialName } from './trial.js'

export const TRIALS: Record<TrialName, Trial> = {
  acquireCost,
  bulk,
  copy,
  drain,
  enqueue,
  heartbeats,
  idle,
  inserts,
  latency,
  pinnedSnapshot,
  planned,
  processes,
  serverLimit,
  soak,
}
