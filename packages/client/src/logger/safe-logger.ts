import { callSafely } from '../events/call-safely.js'
import { isConsole, writeToConsole } from './console-lines.js'
import { type LogFields, type Logger, type LogLevel, logLevels, type TaskLogger } from './logger.js'

/**
 * Wraps the user's logger so that one that throws, or whose promise is rejected, can't stop a worker's loop; a console is given lines for people, and a message
 * that comes alone is given no fields.
 */
export function safeLogger(logger: Logger): TaskLogger {
  const toConsole = isConsole(logger)
  const call = (level: LogLevel) => (given: LogFields | string, behind?: string) => {
    const [fields, message] = typeof given === 'string' ? [{}, given] : [given, behind ?? '']
    // If it fails, nobody is left to tell: the logger is what failed.
    callSafely(
      () => (toConsole ? writeToConsole(logger, level, fields, message) : logger[level](fields, message)),
      () => {},
    )
  }
  const [debug, info, warn, error] = logLevels.map(call) as [Write, Write, Write, Write]
  return Object.freeze({ debug, info, warn, error })
}

type Write = TaskLogger[LogLevel]
