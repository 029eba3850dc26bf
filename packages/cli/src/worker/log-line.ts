import type { LogFields } from '@pg-tasks/client'
import { typeLabel } from '../connection/find-type.js'
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
  const { process: number, schema, table, id, durationMs, error, pid, ...rest } = fields
  const about = typeof schema === 'string' && typeof table === 'string' ? typeLabel({ schema, table }) : ''
  const more = [
    ...Object.entries(rest).map(
      ([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
    ),
    typeof durationMs === 'number' ? formatDuration(durationMs) : '',
    pid === undefined ? '' : `pid ${String(pid)}`,
    error === undefined ? '' : String(error).split('\n', 1)[0],
  ]
  return [
    paint.dim(new Date().toTimeString().slice(0, 8)),
    number === undefined ? '' : paint.dim(`[${String(number)}]`),
    paint.cyan([about, id === undefined ? '' : String(id)].filter((part) => part !== '').join(' ')),
    colourOf(level, paint)(message),
    paint.dim(more.filter((part) => part !== '').join('  ')),
  ]
    .filter((part) => part !== '')
    .join(' ')
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
