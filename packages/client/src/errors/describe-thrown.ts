import { inspect } from 'node:util'
import { boundedText, cutMiddle } from './bounded-text.js'
import { redact } from './redact.js'

/** Causes of causes, and errors of an AggregateError, are followed this far. */
const DEEPEST = 5
const MOST_ERRORS = 5
const MOST_FRAMES = 15

/** A frame of this package where it is installed. */
const OWN_FRAME = /[/\\]@pg-tasks[/\\]client[/\\]/

const DEFAULT_MAX_BYTES = 8 * 1024

/**
 * Turns anything that was thrown into a text that can be stored in PostgreSQL: errors with their stack, SQLSTATE, causes and
 * hint, parts; everything else as Node would print it. Never throws, whatever it is given, and runs no getter of it twice.
 *
 * Passwords of connection strings are hidden. The driver's `detail` is left out: it quotes the row.
 *
 * @param maxBytes - the longest text, in bytes of UTF-8
 */
export function describeThrown(thrown: unknown, maxBytes: number = DEFAULT_MAX_BYTES): string {
  try {
    return boundedText(redact(cutMiddle(describe(thrown, maxBytes, 0, new Set()))), maxBytes)
  } catch {
    return 'A value was thrown that cannot be described.'
  }
}

function describe(thrown: unknown, maxBytes: number, depth: number, seen: Set<unknown>): string {
  if (typeof thrown === 'string') return thrown
  if (!isError(thrown)) return printed(thrown)
  if (seen.has(thrown)) return '[the same error again]'
  seen.add(thrown)
  const parts = [described(thrown, maxBytes)]
  if (depth < DEEPEST) {
    const cause = read(thrown, 'cause')
    if (cause !== undefined) parts.push(`caused by: ${describe(cause, maxBytes, depth + 1, seen)}`)
    for (const part of partsOf(thrown)) parts.push(`with: ${describe(part, maxBytes, depth + 1, seen)}`)
  }
  return parts.join('\n')
}

/** Name and message, then the innermost frames: the message must not push them out, nor the frames a cause. */
function described(error: object, maxLength: number): string {
  const name = text(error, 'name') ?? 'Error'
  const message = text(error, 'message') ?? ''
  const code = text(error, 'code')
  const headline = `${code === undefined ? '' : `[${code}] `}${message === '' ? name : `${name}: ${message}`}`
  const hint = text(error, 'hint')
  // Hidden before it is cut: half a connection string can't be recognized.
  const hidden = redact(cutMiddle(headline))
  const told = [cutMiddle(hidden, Math.ceil(maxLength / 4))]
  if (hint !== undefined) told.push(cutMiddle(redact(`hint: ${hint}`), Math.ceil(maxLength / 8)))
  return [...told, ...framesOf(error, message)].join('\n')
}

/** V8's stack begins with name and message, as they were when the error was made; what follows are frames. */
function framesOf(error: object, message: string): readonly string[] {
  const stack = text(error, 'stack') ?? ''
  const at = stack.indexOf(message)
  const frames = at < 0 ? stack : stack.slice(at + message.length)
  const lines = cutMiddle(frames)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
  // How a handler was called is the same each time, and tells its author nothing; an error of the library's own keeps its frames.
  const others = lines.filter((line) => !OWN_FRAME.test(line))
  return (others.some((line) => !line.includes('node:')) ? others : lines).slice(0, MOST_FRAMES)
}

function partsOf(error: object): readonly unknown[] {
  const errors = read(error, 'errors')
  return Array.isArray(errors) ? errors.slice(0, MOST_ERRORS) : []
}

function isError(value: unknown): value is object {
  try {
    return value instanceof Error || Object.prototype.toString.call(value) === '[object Error]'
  } catch {
    return false
  }
}

/** Custom inspection is off: it is code of the value's, which may throw or do anything. */
function printed(value: unknown): string {
  try {
    return inspect(value, {
      customInspect: false,
      getters: false,
      depth: 4,
      maxArrayLength: 50,
      maxStringLength: 64 * 1024,
      breakLength: 120,
    })
  } catch {
    return `A ${typeof value} was thrown that cannot be printed.`
  }
}

function text(error: object, property: string): string | undefined {
  const value = read(error, property)
  return typeof value === 'string' ? value : undefined
}

function read(error: object, property: string): unknown {
  try {
    return (error as Record<string, unknown>)[property]
  } catch {
    return undefined
  }
}
