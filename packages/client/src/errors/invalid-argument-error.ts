import { PgTasksError } from './pg-tasks-error.js'

/** An argument of a call that can't be used. Thrown before anything is sent to the database. */
export class InvalidArgumentError extends PgTasksError {
  override readonly name = 'InvalidArgumentError'
  readonly argument: string

  constructor(argument: string, problem: string, details: { readonly cause?: unknown } = {}) {
    super('INVALID_ARGUMENT', `Argument "${argument}" ${problem}`, details)
    this.argument = argument
  }
}
