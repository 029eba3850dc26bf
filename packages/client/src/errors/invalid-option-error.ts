import { PgTasksError } from './pg-tasks-error.js'

/** An option that can't be used: unknown, of the wrong type, or out of range. Thrown when the object is made. */
export class InvalidOptionError extends PgTasksError {
  override readonly name = 'InvalidOptionError'
  /** Whose option it is, such as `Worker`. */
  readonly owner: string
  /** The option's name. */
  readonly option: string

  constructor(owner: string, option: string, problem: string, details: { readonly cause?: unknown } = {}) {
    super('INVALID_OPTION', `${owner}: option "${option}" ${problem}`, details)
    this.owner = owner
    this.option = option
  }
}
