import type { Scenario } from './scenario.js'

export const soak: Scenario = {
  name: 'soak',
  title: 'Half an hour of mixed load',
  about:
    '500 tasks/s of two priorities, a third of them a second ahead, one in twenty retried, one in fifty slow; ended ones are ' +
    'kept for a tenth of the run. The last fifth of the run is compared with the second.',
  long: true,
  measure: (bench) => {
    const minutes = bench.options.minutes ?? bench.size(30, 0.25)
    const flat = { of: 'ours/kept', atMost: 1.25 } as const
    return bench.compare({
      trial: 'soak',
      rounds: 1,
      metrics: [
        'p50Ms',
        'p99Ms',
        'latencyGrowth',
        'heapMb',
        'heapGrowth',
        'tableMb',
        'tableGrowth',
        'indexMb',
        'indexGrowth',
      ],
      bars: 'p50Ms',
      entries: [{ participant: { peer: 'ours', config: 'kept' }, parameters: { maxSeconds: minutes * 60, rate: 500 } }],
      aims: [
        { ...flat, text: 'flat heap', metric: 'heapGrowth' },
        { ...flat, text: 'flat table', metric: 'tableGrowth' },
        { ...flat, text: 'flat indexes', metric: 'indexGrowth' },
        { ...flat, text: 'flat latency', metric: 'latencyGrowth' },
      ],
    })
  },
}
