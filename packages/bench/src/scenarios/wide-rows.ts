import type { Scenario } from './scenario.js'

export const wideRows: Scenario = {
  name: 'wide-rows',
  title: 'Drain of wide rows: 20 columns, 5 indexes and 2 kB of the user’s',
  about:
    'What the user’s own columns and indexes cost: each claim and each finish writes a new version of the row, and an entry ' +
    'in every index. Beside it, the same number of narrow rows.',
  measure: (bench) => {
    const parameters = { count: bench.size(20_000, 1_000) }
    return bench.compare({
      trial: 'drain',
      metrics: ['tasksPerSecond', 'nodeCpu', 'serverCpu', 'walBytes', 'othersShare'],
      bars: 'tasksPerSecond',
      entries: [
        {
          key: 'wide/kept',
          label: 'wide rows',
          participant: { peer: 'ours', config: 'kept' },
          parameters: { ...parameters, wide: true },
        },
        {
          key: 'wide/deleted',
          label: 'wide rows, delete at finish',
          participant: { peer: 'ours', config: 'deleted' },
          parameters: { ...parameters, wide: true },
        },
        { key: 'narrow/kept', label: 'narrow rows', participant: { peer: 'ours', config: 'kept' }, parameters },
      ],
      aims: [],
    })
  },
}
