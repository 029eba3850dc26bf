import type { Entry } from '../bench.js'
import type { Scenario } from './scenario.js'

export const processes: Scenario = {
  name: 'processes',
  title: 'One, two, four and eight worker processes',
  about: 'A backlog is worked off by several processes at once, of one task type and spread over 100.',
  measure: (bench) =>
    bench.compare({
      trial: 'processes',
      rounds: Math.min(bench.options.rounds, 3),
      metrics: ['tasksPerSecond', 'serverCpu', 'walBytes', 'deadlocks', 'rollbacks', 'othersShare'],
      bars: 'tasksPerSecond',
      entries: (bench.options.quick ? [1, 2] : [1, 2, 4, 8]).flatMap((number) =>
        (bench.options.quick ? [1] : [1, 100]).map(
          (types): Entry => ({
            key: `${number}x${types}`,
            label: `${number} ${number === 1 ? 'process' : 'processes'}, ${types} ${types === 1 ? 'type' : 'types'}`,
            participant: { peer: 'ours', config: 'kept' },
            parameters: { count: bench.size(100_000, 4_000), processes: number, types },
          }),
        ),
      ),
      aims: [],
    }),
}
