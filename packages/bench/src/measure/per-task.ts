import type { Cost } from './meter.js'
import type { Values } from './metrics.js'

/** What a stretch of work cost, by the task: CPU seconds by ten thousand of them. */
export function perTask(cost: Cost, tasks: number): Values {
  const byTenThousand = (seconds: number): number => (seconds * 10_000) / tasks
  return {
    nodeCpu: byTenThousand(cost.nodeCpuSeconds),
    walBytes: cost.walBytes / tasks,
    ...(cost.serverCpuSeconds === undefined ? {} : { serverCpu: byTenThousand(cost.serverCpuSeconds) }),
    ...(cost.othersShare === undefined ? {} : { othersShare: cost.othersShare }),
  }
}
