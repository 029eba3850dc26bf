import { InvalidOptionError } from '../errors/invalid-option-error.js'
import { checkOptions } from '../options/check-options.js'
import { flag, oneOf, text, texts } from '../options/checks.js'

/** Where a task type lives, and how its runs end. */
export interface TaskOptions {
  /**
   * Schema of the task table, taken literally.
   * @defaultValue 'tasks'
   */
  readonly schema?: string
  /**
   * Name of the task table, taken literally. Give it where a bundler makes names of classes short.
   * @defaultValue the class's name in snake_case
   */
  readonly table?: string
  /**
   * What stands behind the verb in the names of the type's functions, if `tasks.register` was given one.
   * @defaultValue schema_table
   */
  readonly functionName?: string
  /**
   * Whether returning from `run` finishes the task. With `false`, the convention's strict way, a run that returns without
   * having finished, retried or canceled its task is retried.
   * @defaultValue true
   */
  readonly autoFinish?: boolean
  /**
   * Whether `enqueue`, `finish`, `retry` and `cancel` prepare their statements by name on a pg Client or Pool of yours: it saves
   * the server a third of the work of each. Leave it off behind a pooler in transaction mode that doesn't know prepared
   * statements, and where `query` is not node-postgres' own.
   * @defaultValue false
   */
  readonly preparedStatements?: boolean
  /**
   * How runs are settled. `each`: every run by itself, as it ends. `one_transaction`, for short tasks that do nothing but SQL:
   * as many as the concurrency given to `worker.add` are acquired, run one after the other and settled in one transaction, in
   * which the handler writes too (`context.tx`).
   * @defaultValue 'each'
   */
  readonly settle?: Settle
  /**
   * Columns of the table's own that the code reads or writes; types written by `pg-tasks types generate` bring the list. A
   * worker then refuses to start on a table that lacks one, instead of handing `undefined` to the handler.
   * @defaultValue not known, nothing is checked
   */
  readonly columns?: readonly string[]
}

/** How the runs of a task type are settled. */
export type Settle = 'each' | 'one_transaction'

export interface ResolvedTaskOptions {
  readonly schema: string
  readonly table: string
  readonly functionName: string
  readonly autoFinish: boolean
  readonly preparedStatements: boolean
  readonly settle: Settle
  readonly columns: readonly string[] | undefined
}

/** @throws InvalidOptionError that names the option */
export function resolveTaskOptions(className: string, defaultTable: string, options: TaskOptions): ResolvedTaskOptions {
  const resolved = checkOptions<Omit<ResolvedTaskOptions, 'functionName'> & { functionName: string | undefined }>(
    className,
    options,
    {
      schema: text({ default: 'tasks' }),
      table: text({ default: defaultTable }),
      functionName: text({ default: undefined }),
      autoFinish: flag({ default: true }),
      preparedStatements: flag({ default: false }),
      settle: oneOf(['each', 'one_transaction'], { default: 'each' }),
      columns: texts({ default: undefined }),
    },
  )
  if (resolved.settle === 'one_transaction' && !resolved.autoFinish) {
    throw new InvalidOptionError(className, 'autoFinish', "can't be false with settle: 'one_transaction'.")
  }
  if (resolved.table === '') {
    throw new InvalidOptionError(className, 'table', 'is missing: a class without a name can not give it.')
  }
  return Object.freeze({ ...resolved, functionName: resolved.functionName ?? `${resolved.schema}_${resolved.table}` })
}
