import type { Scenario } from './scenario.js'

export const latency: Scenario = {
  name: 'latency',
  title: 'Idle worker: from the commit of an insert to the start of the handler',
  about:
    'Enqueuer and worker in one process, one task at a time with pauses of 5–15 ms. The clock runs from the moment at which ' +
    'COMMIT is sent to the start of the handler.',
  measure: (bench) => {
    const parameters = { count: bench.size(300, 30) }
    const better = { of: 'ours/kept' } as const
    return bench.compare({
      trial: 'latency',
      metrics: ['p50Ms', 'p95Ms', 'p99Ms', 'maxMs'],
      bars: 'p50Ms',
      entries: [
        { participant: { peer: 'ours', config: 'kept' }, parameters },
        { participant: { peer: 'graphile-worker', config: 'plain' }, parameters },
        { participant: { peer: 'graphile-worker', config: 'preset' }, parameters },
        { participant: { peer: 'pg-boss', config: 'notify' }, parameters },
      ],
      aims: [
        {
          ...better,
          text: 'p50 ≤ 0.65 × graphile-worker',
          metric: 'p50Ms',
          than: 'graphile-worker/plain',
          atMost: 0.65,
        },
        { ...better, text: 'p99 ≤ 0.7 × graphile-worker', metric: 'p99Ms', than: 'graphile-worker/plain', atMost: 0.7 },
        { ...better, text: 'p50 ≤ 0.65 × pg-boss', metric: 'p50Ms', than: 'pg-boss/notify', atMost: 0.65 },
        { ...better, text: 'p99 ≤ 0.7 × pg-boss', metric: 'p99Ms', than: 'pg-boss/notify', atMost: 0.7 },
      ],
    })
  },
}
