import { fromDatabaseError, PgTasksError } from '@pg-tasks/client'
import { CommanderError } from 'commander'
import { CliError } from './cli-error.js'
import { isUnreachable } from './connection/is-unreachable.js'
import { EXIT_CODES, type ExitCode } from './exit-codes.js'
import { painter } from './output/painter.js'

/** Tells what went wrong on standard error, as JSON where the command's output is JSON; returns the exit code. */
export function reportError(thrown: unknown): ExitCode {
  // commander has told already, and its help ends with 0.
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? EXIT_CODES.DONE.code : EXIT_CODES.USAGE.code
  const error = fromDatabaseError(thrown)
  const { message, hint, exitCode, code } = described(error)
  if (process.argv.includes('--json')) {
    process.stderr.write(`${JSON.stringify({ error: { code, message, hint: hint ?? null, exitCode } })}\n`)
  } else {
    const paint = painter(process.stderr)
    process.stderr.write(`${paint.red('error:')} ${message}\n`)
    if (hint !== undefined) process.stderr.write(`${paint.dim(hint)}\n`)
  }
  if (process.env.PG_TASKS_DEBUG !== undefined && error instanceof Error) process.stderr.write(`${error.stack}\n`)
  return exitCode
}

interface Described {
  readonly message: string
  readonly hint: string | undefined
  readonly exitCode: ExitCode
  readonly code: string | null
}

function described(error: unknown): Described {
  const { code: raised, hint, detail, where } = (error ?? {}) as Readonly<Record<string, unknown>>
  const code = typeof raised === 'string' ? raised : null
  if (error instanceof CliError)
    return { message: error.message, hint: error.hint, exitCode: error.exitCode, code: 'CLI' }
  const message = withoutStatement(messageOf(error))
  const advice = adviceOf(placeIn(where), hint, detail)
  if (error instanceof PgTasksError) return { message, hint: advice, exitCode: EXIT_CODES.FAILED.code, code }
  // Of another relation or function, a condition of the user's is mostly the reason.
  if ((code === '42P01' || code === '3F000' || code === '42883') && /\btasks\b/.test(message)) {
    const schema = 'If the schema tasks is missing or old: pg-tasks migrate.'
    return {
      message,
      hint: advice === undefined ? schema : `${advice} ${schema}`,
      exitCode: EXIT_CODES.FAILED.code,
      code,
    }
  }
  const unreachable = isUnreachable(error)
  if (unreachable && advice === undefined)
    return { message, hint: UNREACHABLE, exitCode: EXIT_CODES.NO_DATABASE.code, code }
  if (code === 'EADDRINUSE')
    return { message, hint: 'Another --port is free, 0 takes any.', exitCode: EXIT_CODES.FAILED.code, code }
  return { message, hint: advice, exitCode: unreachable ? EXIT_CODES.NO_DATABASE.code : EXIT_CODES.FAILED.code, code }
}

/** What can be done about it from here. */
const UNREACHABLE =
  'Look at --database-url, DATABASE_URL and the config file, and whether the server runs; --embedded starts one of your own.'

/** The hint says more than the detail, which quotes the row; the place stands by itself. */
function adviceOf(place: string | undefined, hint: unknown, detail: unknown): string | undefined {
  const said = [place, hint].filter((text) => typeof text === 'string')
  if (said.length > 0) return said.join('\n')
  return typeof detail === 'string' ? detail : undefined
}

/** The line of a file that COPY reads; where else the server was says nothing to a caller. */
function placeIn(where: unknown): string | undefined {
  return typeof where === 'string' && where.startsWith('COPY ') ? `In ${where}` : undefined
}

/** Where a condition of the user's doesn't end, PostgreSQL quotes all that stands behind it in our statement, over several lines. */
function withoutStatement(message: string): string {
  return message.replace(/( at or near "[^\n"]*?)\)*\n.*"$/s, '$1…"')
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
