import { hasPgbench } from '../trials/pgbench.js'
import type { Scenario } from './scenario.js'

export const serverLimit: Scenario = {
  name: 'server-limit',
  title: 'The server’s own limit: the worker’s statements sent by a client in C',
  about: 'pgbench acquires 500 tasks and finishes them, again and again; beside it, our worker.',
  unavailable: () => (hasPgbench() ? undefined : 'pgbench is not installed'),
  measure: (bench) => {
    const count = bench.size(100_000, 5_000)
    return bench.compare({
      trial: 'serverLimit',
      metrics: ['tasksPerSecond', 'serverCpu', 'walBytes', 'othersShare'],
      bars: 'tasksPerSecond',
      entries: [
        { participant: { peer: 'ours', config: 'kept' }, trial: 'drain', parameters: { count } },
        ...[1, 2, 4].map((clients) => ({
          key: `pgbench/${clients}`,
          label: `pgbench, ${clients} ${clients === 1 ? 'client' : 'clients'}`,
          participant: { peer: 'ours', config: 'kept' } as const,
          parameters: { count, clients, batchSize: 500 },
        })),
      ],
      aims: [
        {
          text: '≥ 0.6 × pgbench with two clients',
          metric: 'tasksPerSecond',
          of: 'ours/kept',
          than: 'pgbench/2',
          atLeast: 0.6,
        },
        {
          text: 'server CPU per task ≤ 1.25 × pgbench’s',
          metric: 'serverCpu',
          of: 'ours/kept',
          than: 'pgbench/1',
          atMost: 1.25,
        },
      ],
    })
  },
}
