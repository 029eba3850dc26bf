import { Console } from 'node:console'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { TaskLogger } from '../../../packages/client/src/logger/logger.js'
import { safeLogger } from '../../../packages/client/src/logger/safe-logger.js'

/** What a console has written after `write` has logged to it. */
function writtenBy(write: (logger: TaskLogger) => void): string {
  const stream = new PassThrough()
  write(safeLogger(new Console(stream, stream)))
  return String(stream.read() ?? '')
}

describe('a console as logger', () => {
  it('has a line that begins with the message', () => {
    const text = writtenBy((logger) =>
      logger.info(
        { schema: 'tasks', table: 'send_mail', id: '7', note: 'two words', of: { n: 1 }, no: undefined },
        'Sent',
      ),
    )
    expect(text).toBe("Sent schema=tasks table=send_mail id=7 note='two words' of={ n: 1 }\n")
  })

  it('has an error below it, line by line', () => {
    const text = writtenBy((logger) =>
      logger.warn({ id: '7', error: 'Error: no paper\n    at run (/srv/tasks.ts:1:1)' }, 'Task will be retried'),
    )
    expect(text).toBe('Task will be retried id=7\n  Error: no paper\n      at run (/srv/tasks.ts:1:1)\n')
  })

  it('has the message alone where there are no fields', () => {
    expect(writtenBy((logger) => logger.error({}, 'Gone'))).toBe('Gone\n')
  })

  it('has a percent sign as it is', () => {
    expect(writtenBy((logger) => logger.info({ done: '5 %s' }, 'At 100 %d'))).toBe("At 100 %d done='5 %s'\n")
  })
})

it('another logger is given fields and message', () => {
  const calls: unknown[] = []
  const note = (...given: unknown[]): void => void calls.push(given)
  safeLogger({ debug: note, info: note, warn: note, error: note }).info({ id: '7' }, 'Sent')
  expect(calls).toEqual([[{ id: '7' }, 'Sent']])
})

it('takes a message alone, as a handler may give it', () => {
  const told: unknown[] = []
  const note = (...args: unknown[]) => void told.push(args)
  safeLogger({ debug: note, info: note, warn: note, error: note }).info('Sent')
  expect(told).toEqual([[{}, 'Sent']])
  expect(writtenBy((logger) => logger.warn('Late'))).toBe('Late\n')
})
