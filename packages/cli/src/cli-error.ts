import { EXIT_CODES, type ExitCode } from './exit-codes.js'

/** Ends the command with a message and an exit code. */
export class CliError extends Error {
  override readonly name: string = 'CliError'
  readonly exitCode: ExitCode
  /** What to do about it, on a line of its own. */
  readonly hint: string | undefined

  constructor(message: string, options: ErrorOptions & { readonly exitCode?: ExitCode; readonly hint?: string } = {}) {
    super(message, options)
    this.exitCode = options.exitCode ?? EXIT_CODES.FAILED.code
    this.hint = options.hint
  }
}

/** An option or argument can't be used. */
export class UsageError extends CliError {
  override readonly name = 'UsageError'

  constructor(message: string, hint?: string) {
    super(message, { exitCode: EXIT_CODES.USAGE.code, ...(hint === undefined ? {} : { hint }) })
  }
}
