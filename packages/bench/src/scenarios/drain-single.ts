import type { Scenario } from './scenario.js'

export const drainSingle: Scenario = {
  name: 'drain-single',
  title: 'Drain one by one',
  about: 'A backlog is worked off with batches of one task, with 24 slots and with a single one; no-op handlers.',
  measure: (bench) => {
    const parameters = { count: bench.size(5_000, 300), maxSeconds: bench.size(20, 5) }
    const ratio = { metric: 'tasksPerSecond', atLeast: 1 } as const
    return bench.compare({
      trial: 'drain',
      metrics: ['tasksPerSecond', 'nodeCpu', 'serverCpu', 'walBytes', 'statements', 'othersShare'],
      bars: 'tasksPerSecond',
      countStatementsOf: bench.size(1_000, 200),
      entries: [
        { participant: { peer: 'ours', config: 'single' }, parameters },
        { participant: { peer: 'ours', config: 'single-silent' }, parameters },
        { participant: { peer: 'graphile-worker', config: 'plain' }, parameters },
        { participant: { peer: 'ours', config: 'one' }, parameters },
        { participant: { peer: 'graphile-worker', config: 'one' }, parameters },
        { participant: { peer: 'pg-boss', config: 'burst' }, parameters },
      ],
      aims: [
        { ...ratio, text: '≥ graphile-worker, 24 slots', of: 'ours/single', than: 'graphile-worker/plain' },
        {
          ...ratio,
          text: '≥ graphile-worker, 24 slots, notify off',
          of: 'ours/single-silent',
          than: 'graphile-worker/plain',
        },
        { ...ratio, text: '≥ graphile-worker, one slot', of: 'ours/one', than: 'graphile-worker/one' },
      ],
    })
  },
}
