import type { LogFields } from '@pg-tasks/client'
import { formatDuration } from '../output/format.js'
import { type Painter, painter } from '../output/painter.js'
import type { LogLevel } from './child-messages.js'

/** Writes what workers tell on standard error: a line for people, or a JSON object. */
export function logLine(json: boolean, level: LogLevel, message: string, fields: LogFields): void {
  const line = json
    ? JSON.stringify({ time: new Date(), level, message, ...fields })
    : forPeople(level, message, fields)
  process.stderr.write(`${line}\n`)
}

function forPeople(level: LogLevel, message: string, fields: LogFields): string {
  const paint = painter(process.stderr)
  const { process: number, type, task, attempt: _attempt, durationMs, error, pid, ...rest } = fields
  const time = paint.dim(new Date().toTimeString().slice(0, 8))
  const where = number === undefined ? '' : ` ${paint.dim(`[${String(number)}]`)}`
  const what =
    type === undefined ? '' : ` ${paint.cyan(task === undefined ? String(type) : `${String(type)} ${String(task)}`)}`
  const more = [
    typeof durationMs === 'number' ? formatDuration(durationMs) : '',
    pid === undefined ? '' : `pid ${String(pid)}`,
    error === undefined ? '' : String(error).split('\n', 1)[0],
    Object.keys(rest).length === 0 ? '' : JSON.stringify(rest),
  ].filter((part) => part !== '')
  return `${time}${where}${what} ${colourOf(level, paint)(message)}${more.length > 0 ? `  ${paint.dim(more.join('  '))}` : ''}`
}

function colourOf(level: LogLevel, paint: Painter): (text: string) => string {
  switch (level) {
    case 'error':
      return paint.red
    case 'warn':
      return paint.yellow
    case 'info':
    case 'debug':
      return (text) => text
  }
}
