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
} as const satisfies Record<string, Metric>

export type MetricName = keyof typeof METRICS

/** What one run gave. */
export type Values = Partial<Record<MetricName, number>>
