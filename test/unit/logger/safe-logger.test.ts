import { expect, it } from 'vitest'
import type { Logger } from '../../../packages/client/src/logger/logger.js'
import { safeLogger } from '../../../packages/client/src/logger/safe-logger.js'

function loggerOf(write: (message: string) => void): Logger {
  const log = (_: unknown, message: string): void => write(message)
  return { debug: log, info: log, warn: log, error: log }
}

it('goes on where a logger throws', () => {
  const logger = safeLogger(
    loggerOf(() => {
      throw new Error('disk full')
    }),
  )
  expect(() => logger.info('told')).not.toThrow()
})

// A rejection that nobody handles would end the process, and this test.
it('goes on where the promise of a logger is rejected', async () => {
  const told: string[] = []
  // A type that takes functions without a result takes those with a promise too.
  const write: (_: unknown, message: string) => unknown = async (_, message) => {
    told.push(message)
    throw new Error('disk full')
  }
  const logger = safeLogger({ debug: write, info: write, warn: write, error: write })
  logger.info('one')
  logger.error({ id: '7' }, 'two')
  await new Promise((resolve) => setImmediate(resolve))
  expect(told).toEqual(['one', 'two'])
})
