import type { Scenario } from './scenario.js'

export const heartbeats: Scenario = {
  name: 'heartbeats',
  title: 'Heartbeats of 5,000 long tasks',
  about: 'One worker runs 5,000 tasks that don’t end, with a lease of a minute; nothing else happens.',
  long: true,
  measure: (bench) => {
    const minutes = bench.options.minutes ?? bench.size(10, 0.1)
    return bench.compare({
      trial: 'heartbeats',
      rounds: 1,
      metrics: ['serverCores', 'nodeCores', 'walPerBeat', 'writesPerBeat', 'rowsWritten'],
      bars: 'serverCores',
      entries: [
        {
          participant: { peer: 'ours', config: 'kept' },
          parameters: { count: 5_000, maxSeconds: minutes * 60, leaseSeconds: bench.size(60, 6) },
        },
      ],
      aims: [
        { text: 'one write per beat', metric: 'writesPerBeat', of: 'ours/kept', atMost: 1.1 },
        { text: 'none on the rows of the user', metric: 'rowsWritten', of: 'ours/kept', atMost: 0 },
        { text: 'server under 1 % of a core', metric: 'serverCores', of: 'ours/kept', atMost: 0.01 },
        { text: 'worker under 1 % of a core', metric: 'nodeCores', of: 'ours/kept', atMost: 0.01 },
      ],
    })
  },
}
