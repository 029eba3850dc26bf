import { beforeEach, describe, expect, it } from 'vitest'
import { FailureLog } from '../../../packages/client/src/logger/failure-log.js'
import { type LogFields, type LogLevel, logLevels } from '../../../packages/client/src/logger/logger.js'
import { safeLogger } from '../../../packages/client/src/logger/safe-logger.js'

let lines: { level: LogLevel; fields: LogFields; message: string }[]
let now: number
let log: FailureLog

beforeEach(() => {
  lines = []
  now = 0
  const write =
    (level: LogLevel): Write =>
    (fields, message) => {
      lines.push({ level, fields, message })
    }
  const [debug, info, warn, error] = logLevels.map(write) as [Write, Write, Write, Write]
  log = new FailureLog({ debug, info, warn, error }, { now: () => now })
})

type Write = (fields: LogFields, message: string) => void

describe('FailureLog', () => {
  it('logs the first failure at once, as it was given', () => {
    log.failed('listen', { reason: 'refused' }, 'Cannot listen')
    expect(lines).toEqual([{ level: 'warn', fields: { reason: 'refused' }, message: 'Cannot listen' }])
  })

  it('logs at most one line per second of a failure that repeats, and fewer the longer it lasts', () => {
    for (; now < 60_000; now += 10) log.failed('listen', {}, 'Cannot listen')
    // At 0, then after 1, 2, 4, 8, 16 seconds.
    expect(lines).toHaveLength(6)
    for (; now < 3_600_000; now += 100) log.failed('listen', {}, 'Cannot listen')
    expect(lines.length).toBeLessThan(70)
  })

  it('counts those that were left out', () => {
    for (; now <= 1000; now += 100) log.failed('listen', {}, 'Cannot listen')
    expect(lines.map((line) => line.fields)).toEqual([{}, { repeated: 10 }])
  })

  it('keeps kinds of failure apart', () => {
    log.failed('listen', {}, 'Cannot listen')
    log.failed('acquire', {}, 'Cannot acquire', 'error')
    expect(lines.map((line) => [line.level, line.message])).toEqual([
      ['warn', 'Cannot listen'],
      ['error', 'Cannot acquire'],
    ])
  })

  it('tells once that it works again, and how long it did not', () => {
    for (; now < 5000; now += 1000) log.failed('listen', {}, 'Cannot listen')
    lines = []
    log.recovered('listen', 'Listening again')
    log.recovered('listen', 'Listening again')
    expect(lines).toEqual([{ level: 'info', fields: { failures: 5, durationMs: 5000 }, message: 'Listening again' }])
    log.failed('listen', {}, 'Cannot listen')
    expect(lines).toHaveLength(2)
  })

  it('forgets the oldest of very many kinds', () => {
    for (let id = 0; id < 1000; id++) log.failed(`task ${id}`, {}, 'Cannot finish')
    log.failed('task 999', {}, 'Cannot finish')
    expect(lines).toHaveLength(1000)
    log.failed('task 0', {}, 'Cannot finish')
    expect(lines).toHaveLength(1001)
  })
})

describe('safeLogger', () => {
  it('survives a logger that throws, and calls it as its own method', () => {
    class Throwing {
      calls = 0
      debug(): void {
        this.calls += 1
        throw new Error('disk full')
      }
      info = this.debug
      warn = this.debug
      error = this.debug
    }
    const throwing = new Throwing()
    const logger = safeLogger(throwing)
    for (const level of logLevels) expect(() => logger[level]({}, 'x')).not.toThrow()
    expect(throwing.calls).toBe(4)
  })
})
