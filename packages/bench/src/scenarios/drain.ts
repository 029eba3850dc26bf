import type { Scenario } from './scenario.js'

export const drain: Scenario = {
  name: 'drain',
  title: 'Drain 100,000 no-op tasks',
  about:
    'A backlog is worked off by one worker process; handlers do nothing and return. pg-tasks finishes in batches, awaited and ' +
    'fenced, and keeps the rows unless it says otherwise; graphile-worker deletes them unfenced and doesn’t wait for it.',
  measure: (bench) =>
    bench.compare({
      trial: 'drain',
      metrics: ['tasksPerSecond', 'nodeCpu', 'serverCpu', 'walBytes', 'statements', 'heapMb', 'othersShare'],
      bars: 'tasksPerSecond',
      countStatementsOf: bench.size(5_000, 500),
      entries: [
        { participant: { peer: 'ours', config: 'kept' }, parameters: { count: bench.size(100_000, 5_000) } },
        {
          participant: { peer: 'graphile-worker', config: 'preset' },
          parameters: { count: bench.size(100_000, 5_000) },
        },
        { participant: { peer: 'ours', config: 'deleted' }, parameters: { count: bench.size(100_000, 5_000) } },
        { participant: { peer: 'pg-boss', config: 'batches' }, parameters: { count: bench.size(100_000, 5_000) } },
        { participant: { peer: 'graphile-worker', config: 'plain' }, parameters: { count: bench.size(10_000, 500) } },
        {
          participant: { peer: 'pg-boss', config: 'plain' },
          parameters: { count: 1_000, maxSeconds: bench.size(10, 2) },
        },
      ],
      aims: [
        {
          text: '≥ 1.4 × graphile-worker’s preset, rows kept',
          metric: 'tasksPerSecond',
          of: 'ours/kept',
          than: 'graphile-worker/preset',
          atLeast: 1.4,
        },
        {
          text: '≥ 1.6 × graphile-worker’s preset, with delete at finish',
          metric: 'tasksPerSecond',
          of: 'ours/deleted',
          than: 'graphile-worker/preset',
          atLeast: 1.6,
        },
        {
          text: '≥ 1.6 × pg-boss at its best, rows kept',
          metric: 'tasksPerSecond',
          of: 'ours/kept',
          than: 'pg-boss/batches',
          atLeast: 1.6,
        },
        {
          text: 'WAL ≤ 1.3 × graphile-worker’s, rows kept',
          metric: 'walBytes',
          of: 'ours/kept',
          than: 'graphile-worker/preset',
          atMost: 1.3,
        },
        {
          text: 'WAL ≤ 1.0 × graphile-worker’s, with delete at finish',
          metric: 'walBytes',
          of: 'ours/deleted',
          than: 'graphile-worker/preset',
          atMost: 1,
        },
      ],
    }),
}
