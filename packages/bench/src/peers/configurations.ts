import type { Participant } from './peers.js'

/** Settings of a queue under measurement; what is not named is the queue's own default. */
export interface Configuration {
  readonly label: string
  /** In words, for the report. */
  readonly settings: string
}

const OURS: Record<string, OurConfiguration> = {
  kept: { label: 'pg-tasks', settings: 'concurrency 24', concurrency: 24 },
  prepared: {
    label: 'pg-tasks, preparedStatements',
    settings: 'concurrency 24, preparedStatements true',
    concurrency: 24,
    preparedStatements: true,
  },
  'one-transaction': {
    label: 'pg-tasks, one transaction',
    settings: "settle 'one_transaction', concurrency 500",
    concurrency: 500,
    oneTransaction: true,
  },
  deleted: {
    label: 'pg-tasks, delete at finish',
    settings: "concurrency 24, storage_time '0'",
    concurrency: 24,
    storageTime: '0',
  },
  silent: { label: 'pg-tasks, notify off', settings: 'notify => false', concurrency: 24, notify: false },
  single: { label: 'pg-tasks, batch 1', settings: 'concurrency 24, batchSize 1', concurrency: 24, batchSize: 1 },
  'single-silent': {
    label: 'pg-tasks, batch 1, notify off',
    settings: 'concurrency 24, batchSize 1, notify => false',
    concurrency: 24,
    batchSize: 1,
    notify: false,
  },
  one: { label: 'pg-tasks, one at a time', settings: 'concurrency 1, batchSize 1', concurrency: 1, batchSize: 1 },
}

const GRAPHILE: Record<string, GraphileConfiguration> = {
  preset: {
    label: 'graphile-worker, its perfTest preset',
    settings: 'concurrentJobs 24, maxPoolSize 25, localQueue { size 500, refetchDelay 10 ms }, completeJobBatchDelay 0',
    concurrency: 24,
    batched: true,
  },
  plain: {
    label: 'graphile-worker, defaults',
    settings: 'concurrentJobs 24, maxPoolSize 25',
    concurrency: 24,
    batched: false,
  },
  one: {
    label: 'graphile-worker, one at a time',
    settings: 'concurrentJobs 1',
    concurrency: 1,
    batched: false,
  },
}

const PG_BOSS: Record<string, PgBossConfiguration> = {
  batches: {
    label: 'pg-boss, batches',
    settings: 'localConcurrency 2, batchSize 500, burstWhenBatchFull',
    work: { localConcurrency: 2, batchSize: 500, burstWhenBatchFull: true },
  },
  steady: {
    label: 'pg-boss, batches of 100',
    settings: 'localConcurrency 4, batchSize 100, pollingIntervalSeconds 0.5, burstWhenBatchFull',
    work: { localConcurrency: 4, batchSize: 100, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true },
  },
  transactional: {
    label: 'pg-boss, transactional',
    settings: 'localConcurrency 24, batchSize 1, transactional, burstWhenReadyExceeds 1, statistics every second',
    work: { localConcurrency: 24, batchSize: 1, burstWhenReadyExceeds: 1, transactional: true },
    freshStatistics: true,
  },
  burst: {
    label: 'pg-boss, single tasks with burst',
    settings: 'localConcurrency 24, batchSize 1, burstWhenReadyExceeds 1, statistics every second',
    work: { localConcurrency: 24, batchSize: 1, burstWhenReadyExceeds: 1 },
    freshStatistics: true,
  },
  plain: {
    label: 'pg-boss, defaults',
    settings: 'localConcurrency 24 (a poll every 2 s, also while there is a backlog)',
    work: { localConcurrency: 24 },
  },
  notify: {
    label: 'pg-boss, LISTEN/NOTIFY',
    settings: 'useListenNotify, queue with notify, localConcurrency 1, batchSize 1',
    work: { localConcurrency: 1, batchSize: 1 },
    notify: true,
  },
}

export interface OurConfiguration extends Configuration {
  readonly concurrency: number
  readonly batchSize?: number
  readonly storageTime?: string
  readonly notify?: boolean
  readonly preparedStatements?: boolean
  readonly oneTransaction?: boolean
}

export interface GraphileConfiguration extends Configuration {
  readonly concurrency: number
  /** The preset that its own performance test uses. */
  readonly batched: boolean
}

export interface PgBossConfiguration extends Configuration {
  readonly work: Readonly<Record<string, number | boolean>>
  readonly notify?: boolean
  /** Burst goes by cached statistics: they are refreshed every second, and waited for before the start. */
  readonly freshStatistics?: boolean
}

export const CONFIGURATIONS = { ours: OURS, 'graphile-worker': GRAPHILE, 'pg-boss': PG_BOSS }

export function configurationOf(participant: Participant): Configuration {
  return pick<Configuration>(CONFIGURATIONS[participant.peer], participant.config)
}

export function pick<Kind>(configurations: Readonly<Record<string, Kind>>, name: string): Kind {
  const configuration = configurations[name]
  if (configuration === undefined) throw new Error(`There is no configuration ${name}`)
  return configuration
}
