/**
 * Thrown by a handler to cancel its own task: it is final at once, whatever executions are left.
 *
 * @example
 * throw new CancelTask('the order was withdrawn')
 */
export class CancelTask extends Error {
  override readonly name = 'CancelTask'
  readonly comment: string | undefined

  /** @param comment - stored with the task */
  constructor(comment?: string, options?: { readonly cause?: unknown }) {
    super(comment ?? 'The task asked to be canceled', options)
    this.comment = comment
  }
}
