import { afterEach } from 'vitest'
import { resolveConnection } from '../../../packages/client/src/connection/connection-source.js'
import { Listener } from '../../../packages/client/src/listener/listener.js'
import type { ListenerOptions } from '../../../packages/client/src/listener/listener-options.js'
import type { LogFields, LogLevel } from '../../../packages/client/src/logger/logger.js'

export interface LogLine {
  readonly level: LogLevel
  readonly fields: LogFields
  readonly message: string
}

/** A listener that runs, and what it has told so far. */
export interface RecordedListener {
  readonly listener: Listener
  /** `channel:payload` of each notification. */
  readonly heard: string[]
  readonly lines: LogLine[]
  readonly reasons: Error[]
  ups: number
  downs: number
  /** The result of `start()`. */
  readonly started: Promise<boolean>
}

export const APPLICATION = 'tested listener'

const running = new Set<Listener>()

/** Starts a listener on a connection string; it is closed after the test. */
export function recordListener(
  url: string | readonly string[],
  options: Partial<ListenerOptions> = {},
): RecordedListener {
  const [heard, lines, reasons]: [string[], LogLine[], Error[]] = [[], [], []]
  const write = (level: LogLevel) => (fields: LogFields, message: string) => {
    lines.push({ level, fields, message })
  }
  const listener = new Listener({
    source: resolveConnection('Listener', { connectionString: url }),
    channels: ['pg_tasks', 'pg_tasks_control'],
    applicationName: APPLICATION,
    logger: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') },
    pingIntervalMs: 1_000,
    pingTimeoutMs: 1_000,
    connectTimeoutMs: 1_000,
    backoff: { baseMs: 20, maxMs: 200 },
    ...options,
    onNotification: (channel, payload) => {
      heard.push(`${channel}:${payload}`)
      return options.onNotification?.(channel, payload)
    },
    onUp: () => {
      recorded.ups += 1
      return options.onUp?.()
    },
    onDown: (reason) => {
      recorded.downs += 1
      reasons.push(reason)
      return options.onDown?.(reason)
    },
  })
  running.add(listener)
  const recorded: RecordedListener = { listener, heard, lines, reasons, ups: 0, downs: 0, started: listener.start() }
  return recorded
}

/** Open sockets and running timers of this process. */
export function openHandles(): { readonly sockets: number; readonly timers: number } {
  const types = process.getActiveResourcesInfo()
  const count = (type: string) => types.filter((one) => one === type).length
  return { sockets: count('TCPSocketWrap') + count('TCPWRAP'), timers: count('Timeout') }
}

afterEach(async () => {
  await Promise.all([...running].map((listener) => listener.close()))
  running.clear()
})
