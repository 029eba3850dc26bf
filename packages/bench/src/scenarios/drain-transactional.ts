import type { Scenario } from './scenario.js'

export const drainTransactional: Scenario = {
  name: 'drain-transactional',
  title: 'Drain, each task finished in a transaction of its own with one user write',
  about:
    'Each handler inserts a row of the user’s and finishes its task in the same transaction. graphile-worker has no such ' +
    'transaction: its handler inserts on a pool of the user’s, and the task is deleted afterwards. pg-boss runs `transactional`. ' +
    'With `one_transaction`, a batch shares one, with a savepoint for each task.',
  measure: (bench) =>
    bench.compare({
      trial: 'drain',
      metrics: ['tasksPerSecond', 'nodeCpu', 'serverCpu', 'walBytes', 'statements', 'othersShare'],
      bars: 'tasksPerSecond',
      countStatementsOf: bench.size(1_000, 200),
      entries: [
        {
          participant: { peer: 'ours', config: 'kept' },
          parameters: { count: bench.size(10_000, 500), userWrite: true },
        },
        {
          participant: { peer: 'ours', config: 'prepared' },
          parameters: { count: bench.size(10_000, 500), userWrite: true },
        },
        {
          participant: { peer: 'ours', config: 'one-transaction' },
          parameters: { count: bench.size(20_000, 1_000), userWrite: true },
        },
        {
          participant: { peer: 'graphile-worker', config: 'plain' },
          parameters: { count: bench.size(5_000, 300), userWrite: true },
        },
        {
          participant: { peer: 'graphile-worker', config: 'preset' },
          parameters: { count: bench.size(10_000, 500), userWrite: true },
        },
        {
          participant: { peer: 'pg-boss', config: 'transactional' },
          parameters: { count: bench.size(2_000, 100), userWrite: true, maxSeconds: bench.size(30, 5) },
        },
      ],
      aims: [
        {
          text: '≥ 10 × pg-boss transactional',
          metric: 'tasksPerSecond',
          of: 'ours/prepared',
          than: 'pg-boss/transactional',
          atLeast: 10,
        },
        {
          text: '≥ 20 × pg-boss transactional, in one transaction',
          metric: 'tasksPerSecond',
          of: 'ours/one-transaction',
          than: 'pg-boss/transactional',
          atLeast: 20,
        },
        {
          text: '≥ 1.7 × graphile-worker’s defaults',
          metric: 'tasksPerSecond',
          of: 'ours/prepared',
          than: 'graphile-worker/plain',
          atLeast: 1.7,
        },
      ],
    }),
}
