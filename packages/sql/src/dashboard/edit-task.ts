import type { Queryable } from '../connection.js'
import { quoteIdentifier } from '../quote-identifier.js'
import { type TaskTypeName, tableOf } from '../task-type-name.js'

/**
 * Changes columns of a task that waits, values as PostgreSQL reads them; false if there is none of this id, or it doesn't wait any
 * more. A task that a worker acquires at the same moment is either changed before, or not at all.
 */
export async function editTask(
  connection: Queryable,
  type: TaskTypeName,
  id: string,
  values: Readonly<Record<string, string | null>>,
): Promise<boolean> {
  const columns = Object.keys(values).map((name, index) => `${quoteIdentifier(name)} = $${index + 2}`)
  // tasks.state instead of the columns: a by-id statement must not imply the predicate of a partial index.
  const result = await connection.query(
    `update ${tableOf(type)} t set ${columns.join(', ')}
     where t.id = $1::bigint
       and tasks.state(t.planned_to, t.started_at, t.finished_at, t.failed_at, t.canceled, tasks.clock()) in ('scheduled', 'ready')`,
    [id, ...Object.values(values)],
  )
  return result.rowCount === 1
}

/** Makes a scheduled task ready now; false if it doesn't wait. */
export async function runNow(connection: Queryable, type: TaskTypeName, id: string): Promise<boolean> {
  const result = await connection.query(
    `update ${tableOf(type)} t set planned_to = tasks.clock()
     where t.id = $1::bigint
       and tasks.state(t.planned_to, t.started_at, t.finished_at, t.failed_at, t.canceled, tasks.clock()) in ('scheduled', 'ready')`,
    [id],
  )
  return result.rowCount === 1
}
