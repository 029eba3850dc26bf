/** What a worker's process is told when it starts. */
export interface ChildSettings {
  readonly modules: readonly string[]
  /** Of every type, unless `concurrencies` names it. */
  readonly concurrency: number
  readonly concurrencies: Readonly<Record<string, number>>
  readonly verbose: boolean
  readonly stopTimeoutMs: number
  /** Where to serve metrics and health; the port is the first process's. */
  readonly metrics: { readonly port: number; readonly host: string } | undefined
}

/** What a worker's process tells its parent. */
export type ChildMessage =
  | { readonly event: 'ready'; readonly types: readonly string[] }
  | {
      readonly event: 'log'
      readonly level: LogLevel
      readonly message: string
      readonly fields: Readonly<Record<string, unknown>>
    }
  | { readonly event: 'fatal'; readonly message: string; readonly hint: string | undefined }

/** What a parent tells a worker's process. */
export type ParentMessage = { readonly event: 'stop' }

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
