import {
  describeType,
  describeTypeOfTable,
  listTypes,
  type Queryable,
  refreshType,
  type TypeDescription,
} from '@pg-tasks/sql'
import { TypeNotRegisteredError } from '../../errors/database-errors.js'
import { isTransient } from '../../errors/is-transient.js'
import { didYouMean } from '../../options/did-you-mean.js'
import type { TaskOptions } from '../../task/task-options.js'
import { hasMoved } from '../settle/failure-kind.js'
import { type TypeContext, typeReference } from './type-context.js'

/** What is known of a task type, and how that is kept true: its settings may change, its table be renamed or made anew. */
export class KnownType {
  readonly #context: TypeContext
  readonly #name: Required<Pick<TaskOptions, 'schema' | 'table'>>
  #type: TypeDescription | undefined
  #forgotten: TypeDescription | undefined
  #learnedAt = 0
  #mended = false

  constructor(context: TypeContext, name: Required<Pick<TaskOptions, 'schema' | 'table'>>) {
    this.#context = context
    this.#name = name
  }

  get known(): boolean {
    return this.#type !== undefined
  }

  /** Its name of today, as far as it is known. */
  get name(): { readonly schema: string; readonly table: string } {
    return this.#type ?? this.#name
  }

  /**
   * What it is, or was before it was forgotten: timers of heartbeats and handlers that still end ask as well, and nobody hears
   * what they throw.
   *
   * @throws TypeNotRegisteredError if nothing was ever known
   */
  get current(): TypeDescription {
    const type = this.#type ?? this.#forgotten
    if (type === undefined) throw this.#unregistered()
    return type
  }

  /** How long ago it was looked up, in milliseconds. */
  get age(): number {
    return performance.now() - this.#learnedAt
  }

  /**
   * Looks the type up.
   *
   * @throws TypeNotRegisteredError, or the database's error
   */
  async learn(connection: Queryable): Promise<void> {
    // By its identity first: it may bear another name. By its name, if it was made anew.
    const known = this.#type && (await describeTypeOfTable(connection, this.#type.tableId))
    const type = known ?? (await describeType(connection, this.#name.schema, this.#name.table))
    if (type === undefined) throw this.#unregistered(known === undefined ? await this.#meant(connection) : undefined)
    this.#noteRename(type)
    this.#noteRowSecurity(type)
    this.#type = type
    this.#learnedAt = performance.now()
  }

  /** Looks the type up again; if it isn't there, what was known stays. */
  async relearn(connection: Queryable): Promise<void> {
    try {
      await this.learn(connection)
    } catch (error) {
      if (isTransient(error)) throw error
    }
  }

  /** What was done before has worked: the next error is a new one. */
  worked(): void {
    this.#mended = false
  }

  /** After an error: where it says that the table was renamed, the functions are made to follow. Whether to try again at once. */
  async mend(error: unknown): Promise<boolean> {
    const type = this.#type
    if (type === undefined || !hasMoved(error) || this.#mended) return false
    const { control } = this.#context
    if (!(await refreshType(control, type.tableId).catch(() => false))) return false
    this.#mended = true
    await this.relearn(control).catch(() => {})
    return true
  }

  /** It is gone, and may come back as another table: the next look is by its name. */
  forget(): void {
    this.#forgotten = this.#type ?? this.#forgotten
    this.#type = undefined
  }

  #noteRename(type: TypeDescription): void {
    const before = this.#type
    if (before === undefined || (before.schema === type.schema && before.table === type.table)) return
    this.#context.logger.warn({ ...typeReference(type), before: typeReference(before) }, 'A task table was renamed')
  }

  /** A hidden task is neither run nor missed by anybody: nothing else would tell. */
  #noteRowSecurity(type: TypeDescription): void {
    if (!type.rowSecurity || this.#type?.rowSecurity === true) return
    this.#context.logger.warn(
      { ...typeReference(type) },
      "Row level security is active for this worker's role: tasks that no policy shows it are not run. Give the role a policy for all rows, or BYPASSRLS",
    )
  }

  /** The registered type whose name is near. Nothing hangs on it, so no error comes of it. */
  async #meant(connection: Queryable): Promise<string | undefined> {
    const { schema, table } = this.#name
    const types = await listTypes(connection).catch(() => [])
    const names = types.filter(({ there }) => there).map((type) => `${type.schema}.${type.table}`)
    // Who gave the schema with the table wrote it twice.
    return names.find((name) => name === table) ?? didYouMean(`${schema}.${table}`, names)
  }

  #unregistered(meant?: string): TypeNotRegisteredError {
    const { schema, table } = this.#name
    const advice = meant === undefined ? '' : ` Did you mean ${meant}? If not: create the table, then`
    return new TypeNotRegisteredError(
      `The table ${schema}.${table} is not a registered task type${advice === '' ? ': ' : `.${advice} `}select tasks.register('${schema}', '${table}')`,
    )
  }
}
