/** What is measured: its name in the results, how it is shown, and which way is better. */
export interface Metric {
  readonly label: string
  readonly digits: number
  readonly better: 'higher' | 'lower' | 'neither'
}

export const METRICS = {
  tasksPerSecond: { label: 'tasks/s', digits: 0, better: 'higher' },
  rowsPerSecond: { label: 'rows/s', digits: 0, better: 'higher' },
  nodeCpu: { label: 'Node CPU s/10k', digits: 2, better: 'lower' },
  serverCpu: { label: 'server CPU s/10k', digits: 2, better: 'lower' },
  walBytes: { label: 'WAL B/task', digits: 0, better: 'lower' },
  statements: { label: 'statements/task', digits: 3, better: 'lower' },
  heapMb: { label: 'heap MB', digits: 0, better: 'lower' },
  othersShare: { label: "others' CPU", digits: 2, better: 'neither' },
  p50Ms: { label: 'p50 ms', digits: 2, better: 'lower' },
  p95Ms: { label: 'p95 ms', digits: 2, better: 'lower' },
  p99Ms: { label: 'p99 ms', digits: 2, better: 'lower' },
  maxMs: { label: 'max ms', digits: 1, better: 'lower' },
  idleStatements: { label: 'statements/s while idle', digits: 2, better: 'lower' },
  callMs: { label: 'ms/call', digits: 3, better: 'lower' },
  buffers: { label: 'buffers/call', digits: 0, better: 'lower' },
  claimMsBefore: { label: 'claim ms before', digits: 2, better: 'lower' },
  claimMsPinned: { label: 'claim ms at the end', digits: 2, better: 'lower' },
  claimMsAfter: { label: 'claim ms afterwards', digits: 2, better: 'lower' },
  backlog: { label: 'waiting', digits: 0, better: 'lower' },
  nodeCores: { label: 'Node cores', digits: 4, better: 'lower' },
  serverCores: { label: 'server cores', digits: 4, better: 'lower' },
  deadlocks: { label: 'deadlocks', digits: 0, better: 'lower' },
  rollbacks: { label: 'rollbacks', digits: 0, better: 'lower' },
  walPerBeat: { label: 'WAL B/beat', digits: 0, better: 'lower' },
  writesPerBeat: { label: 'lease writes/beat', digits: 1, better: 'lower' },
  rowsWritten: { label: 'task rows written', digits: 0, better: 'lower' },
  tableMb: { label: 'table MB', digits: 1, better: 'lower' },
  indexMb: { label: 'indexes MB', digits: 1, better: 'lower' },
  heapGrowth: { label: 'heap ×', digits: 2, better: 'lower' },
  tableGrowth: { label: 'table ×', digits: 2, better: 'lower' },
  indexGrowth: { label: 'indexes ×', digits: 2, better: 'lower' },
  latencyGrowth: { label: 'p50 ×', digits: 2, better: 'lower' },
} as const satisfies Record<string, Metric>

export type MetricName = keyof typeof METRICS

/** What one run gave. */
export type Values = Partial<Record<MetricName, number>>
