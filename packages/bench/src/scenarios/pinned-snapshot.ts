import type { Scenario } from './scenario.js'

export const pinnedSnapshot: Scenario = {
  name: 'pinned-snapshot',
  title: 'A steady 1,500 tasks/s while another session holds a snapshot',
  about:
    'No dead row version can be removed while the snapshot is held, so every claim that walks an index from its start walks ' +
    'them all. The claim’s own statement is timed by the server, before, at the end of the hold, and afterwards. One run each.',
  long: true,
  measure: (bench) => {
    const minutes = bench.options.minutes ?? bench.size(3, 0.1)
    const parameters = { maxSeconds: minutes * 60, rate: 1_500, countStatements: true }
    return bench.compare({
      trial: 'pinnedSnapshot',
      rounds: 1,
      metrics: [
        'claimMsBefore',
        'claimMsPinned',
        'claimMsAfter',
        'buffers',
        'p50Ms',
        'p95Ms',
        'backlog',
        'tasksPerSecond',
        'serverCores',
      ],
      bars: 'claimMsPinned',
      entries: [
        { participant: { peer: 'ours', config: 'kept' }, parameters },
        { participant: { peer: 'graphile-worker', config: 'preset' }, parameters },
        { participant: { peer: 'pg-boss', config: 'steady' }, parameters },
      ],
      aims: [
        { text: 'claim under 3 ms at the end', metric: 'claimMsPinned', of: 'ours/kept', atMost: 3 },
        {
          text: 'claim ≤ 1/20 of graphile-worker’s at the end',
          metric: 'claimMsPinned',
          of: 'ours/kept',
          than: 'graphile-worker/preset',
          atMost: 0.05,
        },
        {
          text: 'claim ≤ 1/20 of pg-boss’s at the end',
          metric: 'claimMsPinned',
          of: 'ours/kept',
          than: 'pg-boss/steady',
          atMost: 0.05,
        },
        { text: 'nothing waits at the end', metric: 'backlog', of: 'ours/kept', atMost: 1_500 },
      ],
    })
  },
}
