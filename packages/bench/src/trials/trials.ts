import { bulk } from './bulk.js'
import { copy } from './copy.js'
import { drain } from './drain.js'
import { enqueue } from './enqueue.js'
import { idle, latency, planned } from './latency.js'
import type { Trial, TrialName } from './trial.js'

export const TRIALS: Record<TrialName, Trial> = { drain, enqueue, bulk, copy, latency, planned, idle }
