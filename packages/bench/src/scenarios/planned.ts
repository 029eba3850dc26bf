import { mergeRows } from '../bench.js'
import type { Scenario } from './scenario.js'

export const planned: Scenario = {
  name: 'planned',
  title: 'Planned task: from its due time to the start of the handler',
  about:
    'An idle worker; one task after the other is planned 200–500 ms ahead. Peers find planned tasks by polling, every 2 s by ' +
    'default. Beside it, the statements that an idle worker sends.',
  measure: async (bench) => {
    const parameters = { count: bench.size(40, 4) }
    const ours = { peer: 'ours', config: 'kept' } as const
    const graphile = { peer: 'graphile-worker', config: 'plain' } as const
    // With notifications on, pg-boss would poll every half minute only.
    const boss = { peer: 'pg-boss', config: 'plain' } as const
    const participants = bench.options.quick ? [ours, graphile] : [ours, graphile, boss]
    const metrics = ['p50Ms', 'p95Ms', 'maxMs', 'idleStatements'] as const
    const latencies = await bench.compare({
      trial: 'planned',
      metrics,
      bars: 'p50Ms',
      entries: participants.map((participant) => ({
        participant,
        parameters: participant.peer === 'ours' ? parameters : { count: bench.size(8, 1) },
      })),
      aims: [{ text: 'p50 ≤ 5 ms', metric: 'p50Ms', of: 'ours/kept', atMost: 5 }],
    })
    const idle = await bench.compare({
      trial: 'idle',
      rounds: 1,
      metrics,
      bars: 'p50Ms',
      entries: participants.map((participant) => ({
        participant,
        parameters: { maxSeconds: bench.size(30, 2), countStatements: true },
      })),
      aims: [],
    })
    return { ...latencies, rows: mergeRows(latencies.rows, idle.rows) }
  },
}
