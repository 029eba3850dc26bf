import { quoteIdentifier } from './quote-identifier.js'

/** How SQL finds a task type: its table, and what stands behind the verb in the names of its functions. */
export interface TaskTypeName {
  readonly schema: string
  readonly table: string
  /** As given to `tasks.register(…, function_name => …)`; otherwise `schema_table`. */
  readonly functionName: string
}

/** The function of a verb, quoted: `tasks."acquire_tasks_do_something"`. */
export function verbOf(type: TaskTypeName, verb: string): string {
  return `tasks.${quoteIdentifier(`${verb}_${type.functionName}`)}`
}

/** The table, quoted: `"tasks"."do_something"`. */
export function tableOf(type: TaskTypeName): string {
  return `${quoteIdentifier(type.schema)}.${quoteIdentifier(type.table)}`
}
