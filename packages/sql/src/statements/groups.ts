import type { Queryable } from '../connection.js'
import { type TaskTypeName, tableOf } from '../task-type-name.js'
import type { ColumnValues } from './enqueue.js'
import { jsonOfRow } from './json-of-rows.js'

/** Lets tasks of a type belong to groups; idempotent. */
export async function useGroups(connection: Queryable, type: TaskTypeName): Promise<void> {
  await connection.query('select tasks.use_groups($1::text, $2::text)', [type.schema, type.table])
}

/** A group: what is enqueued once when its last member has ended. */
export interface NewGroup {
  readonly key: string
  readonly callback: TaskTypeName
  readonly columns: ColumnValues
  /** Whether the callback comes whatever became of the members, or only if all finished. @defaultValue 'always' */
  readonly policy?: 'always' | 'all_finished' | undefined
}

/** Creates a group; enqueue its members, with its key as `group_key`, in the same transaction. */
export async function createGroup(connection: Queryable, group: NewGroup): Promise<void> {
  const columns = await jsonOfRow(connection, tableOf(group.callback), group.columns)
  // As text, because Prisma refuses a column of type void.
  await connection.query('select tasks.create_group($1::text, $2::text, $3::text, $4::jsonb, $5::text)::text', [
    group.key,
    group.callback.schema,
    group.callback.table,
    columns,
    group.policy ?? 'always',
  ])
}

/** Writes a row per attempt of a type into `tasks.attempts`, kept so long (milliseconds); null: no more. */
export async function keepHistory(connection: Queryable, type: TaskTypeName, keepMs: number | null): Promise<void> {
  await connection.query(
    'select tasks.keep_history($1::text, $2::text, make_interval(secs => $3::double precision / 1000))',
    [type.schema, type.table, keepMs],
  )
}
