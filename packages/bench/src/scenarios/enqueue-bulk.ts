import type { Scenario } from './scenario.js'

export const enqueueBulk: Scenario = {
  name: 'enqueue-bulk',
  title: 'Enqueue 100,000 tasks in one call',
  about:
    'enqueueMany of pg-tasks, addJobs of graphile-worker, insert of pg-boss; the yardstick is COPY of the same rows into the ' +
    'table of pg-tasks, indexes and trigger included.',
  measure: (bench) => {
    const parameters = { count: bench.size(100_000, 5_000) }
    return bench.compare({
      trial: 'bulk',
      metrics: ['rowsPerSecond', 'nodeCpu', 'serverCpu', 'walBytes', 'othersShare'],
      bars: 'rowsPerSecond',
      entries: [
        { participant: { peer: 'ours', config: 'kept' }, parameters },
        {
          key: 'copy',
          label: 'COPY into the same table',
          participant: { peer: 'ours', config: 'kept' },
          trial: 'copy',
          parameters,
        },
        { participant: { peer: 'graphile-worker', config: 'plain' }, parameters },
        { participant: { peer: 'pg-boss', config: 'batches' }, parameters },
      ],
      aims: [
        {
          text: '≥ 3 × graphile-worker',
          metric: 'rowsPerSecond',
          of: 'ours/kept',
          than: 'graphile-worker/plain',
          atLeast: 3,
        },
        { text: '≥ 3 × pg-boss', metric: 'rowsPerSecond', of: 'ours/kept', than: 'pg-boss/batches', atLeast: 3 },
        { text: '≥ 0.8 × COPY', metric: 'rowsPerSecond', of: 'ours/kept', than: 'copy', atLeast: 0.8 },
      ],
    })
  },
}
