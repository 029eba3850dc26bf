import { isConsole, writeToConsole } from './console-lines.js'
import { type LogFields, type Logger, type LogLevel, logLevels } from './logger.js'

/** Wraps the user's logger so that one that throws can't stop a worker's loop; a console is given lines for people. */
export function safeLogger(logger: Logger): Logger {
  const toConsole = isConsole(logger)
  const call = (level: LogLevel) => (fields: LogFields, message: string) => {
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

type Write = Logger[LogLevel]
