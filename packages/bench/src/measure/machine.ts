import { cpus, loadavg, platform, release, totalmem } from 'node:os'

/** Where a benchmark ran. */
export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly memoryGb: number
  readonly system: string
  readonly loadAverage: number
}

export function describeMachine(): Machine {
  const processors = cpus()
  return {
    processor: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()}`,
    loadAverage: Number((loadavg()[0] ?? 0).toFixed(2)),
  }
}
