import type { Scenario } from './scenario.js'

export const enqueueSingle: Scenario = {
  name: 'enqueue-single',
  title: 'Enqueue singly from 10 clients',
  about:
    'Ten clients of one process enqueue one task after the other, each in a transaction of its own. No worker is there, so ' +
    'every insert of ours notifies; beside it, while a worker of ours is awake (its lock is held), and with notify off.',
  measure: (bench) => {
    const parameters = { count: bench.size(5_000, 300), clients: 10 }
    return bench.compare({
      trial: 'enqueue',
      metrics: ['tasksPerSecond', 'nodeCpu', 'serverCpu', 'walBytes', 'statements', 'othersShare'],
      bars: 'tasksPerSecond',
      countStatementsOf: bench.size(1_000, 200),
      entries: [
        { participant: { peer: 'ours', config: 'kept' }, parameters },
        {
          key: 'ours/awake',
          label: 'pg-tasks, a worker awake',
          participant: { peer: 'ours', config: 'kept' },
          parameters: { ...parameters, workerAwake: true },
        },
        { participant: { peer: 'ours', config: 'prepared' }, parameters },
        {
          key: 'ours/prepared-awake',
          label: 'pg-tasks, preparedStatements, a worker awake',
          participant: { peer: 'ours', config: 'prepared' },
          parameters: { ...parameters, workerAwake: true },
        },
        { participant: { peer: 'ours', config: 'silent' }, parameters },
        { participant: { peer: 'graphile-worker', config: 'plain' }, parameters },
        { participant: { peer: 'pg-boss', config: 'batches' }, parameters },
      ],
      aims: [
        {
          text: '≥ 5 × graphile-worker',
          metric: 'tasksPerSecond',
          of: 'ours/prepared',
          than: 'graphile-worker/plain',
          atLeast: 5,
        },
        {
          text: '≥ 5 × graphile-worker, a worker of ours awake',
          metric: 'tasksPerSecond',
          of: 'ours/prepared-awake',
          than: 'graphile-worker/plain',
          atLeast: 5,
        },
        { text: '≥ 3 × pg-boss', metric: 'tasksPerSecond', of: 'ours/prepared', than: 'pg-boss/batches', atLeast: 3 },
      ],
    })
  },
}
