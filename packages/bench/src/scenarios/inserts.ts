import type { Bench, Entry } from '../bench.js'
import type { ResultAim } from '../results.js'
import { hasPgbench } from '../trials/pgbench.js'
import type { Scenario } from './scenario.js'

const CLIENTS = [8, 16, 32]

/** What happens at an insert, and why it is compared. */
const TRIGGERS = [
  { name: 'none', label: 'without a trigger', config: 'silent', parameters: {} },
  { name: 'awake', label: 'trigger, a worker awake', config: 'kept', parameters: { workerAwake: true } },
  { name: 'asleep', label: 'trigger, all workers asleep', config: 'kept', parameters: {} },
  { name: 'always', label: 'pg_notify at each insert', config: 'silent', parameters: { notifyAlways: true } },
] as const

export const inserts: Scenario = {
  name: 'inserts',
  title: 'Single-row inserts by a client in C, with and without the trigger',
  about:
    'pgbench with prepared single-row inserts into a task table. While a worker is awake (its lock is held), inserts need not ' +
    'notify; while all sleep, each one does.',
  unavailable: () => (hasPgbench() ? undefined : 'pgbench is not installed'),
  measure: (bench) =>
    bench.compare({
      trial: 'inserts',
      metrics: ['tasksPerSecond', 'callMs', 'serverCpu', 'walBytes', 'othersShare'],
      bars: 'tasksPerSecond',
      entries: CLIENTS.flatMap((clients) => entriesFor(bench, clients)),
      aims: [aim(8, 0.9), aim(32, 0.8)],
    }),
}

function entriesFor(bench: Bench, clients: number): Entry[] {
  return TRIGGERS.map(({ name, label, config, parameters }) => ({
    key: `${name}/${clients}`,
    label: `${clients} clients, ${label}`,
    participant: { peer: 'ours', config },
    parameters: { ...parameters, clients, maxSeconds: bench.size(4, 1) },
  }))
}

function aim(clients: number, atLeast: number): ResultAim {
  return {
    text: `≥ ${atLeast} × without a trigger, ${clients} clients`,
    metric: 'tasksPerSecond',
    of: `awake/${clients}`,
    than: `none/${clients}`,
    atLeast,
  }
}
