import { isConsole, writeToConsole } from './console-lines.js'
import { type LogFields, type Logger, type LogLevel, logLevels, type TaskLogger } from './logger.js'

/**
 * Wraps the user's logger so that one that throws can't stop a worker's loop; a console is given lines for people, and a message
 * that comes alone is given no fields.
 */
export function safeLogger(logger: Logger): TaskLogger {
  const toConsole = isConsole(logger)
  const call = (level: LogLevel) => (given: LogFields | string, behind?: string) => {
    const [fields, message] = typeof given === 'string' ? [{}, given] : [given, behind ?? '']
    try {
      if (toConsole) writeToConsole(logger, level, fields, message)
      else logger[level](fields, message)
    } catch {
      // Nobody is left to tell: the logger is what failed.
    }
  }
  const [debug, info, warn, error] = logLevels.map(call) as [Write, Write, Write, Write]
  return Object.freeze({ debug, info, warn, error })
}

type Write = TaskLogger[LogLevel]
