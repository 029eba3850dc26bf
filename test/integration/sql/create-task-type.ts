import type { ClientBase, Pool } from 'pg'
import { dropTaskType } from '../../support/task-type.js'
import { isAnotherTry } from '../../support/tries.js'

export interface CreateTaskTypeOptions {
  /** Columns of the table's own, as in CREATE TABLE. */
  readonly columns?: string
  /** What follows schema and table in the call of register, such as `timeout => '2 s'`. */
  readonly settings?: string
}

/** Creates the table tasks.<name> from the template, as the documentation tells, and registers it. */
export async function createTaskType(
  connection: ClientBase | Pool,
  name: string,
  { columns = 'payload text', settings = '' }: CreateTaskTypeOptions = {},
): Promise<void> {
  if (isAnotherTry()) await dropTaskType(connection, 'tasks', name)
  await connection.query(
    `create table tasks.${name} (like tasks.template including defaults including identity including indexes, ${columns})`,
  )
  await connection.query(`select tasks.register('tasks', '${name}'${settings && `, ${settings}`})`)
}
