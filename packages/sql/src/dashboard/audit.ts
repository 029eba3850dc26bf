import type { Queryable } from '../connection.js'
import { type TaskTypeName, tableOf } from '../task-type-name.js'

/** What an operator did. */
export interface AuditEntry {
  readonly actor: string
  /** What: `enqueue`, `retry`, `pause`, … */
  readonly action: string
  readonly type?: Pick<TaskTypeName, 'schema' | 'table'> | undefined
  /** Id of the task, or key of the schedule. */
  readonly target?: string | undefined
  /** How many tasks, schedules or settings. */
  readonly affected: number
  /** More about it; never a column's value. */
  readonly details?: Readonly<Record<string, unknown>> | undefined
}

/** An entry as it was written. */
export interface WrittenAuditEntry {
  readonly id: string
  readonly actedAt: string
  readonly actor: string
  readonly roleName: string
  readonly action: string
  readonly table: string | null
  readonly target: string | null
  readonly affected: number
  readonly details: Readonly<Record<string, unknown>> | null
}

/** Writes down what an operator does, in the transaction that does it. */
export async function writeAudit(connection: Queryable, entry: AuditEntry): Promise<void> {
  await connection.query(
    'insert into tasks.audit (actor, action, table_name, target, affected, details) values ($1::text, $2::text, $3::text::regclass::text, $4::text, $5::bigint, $6::jsonb)',
    [
      entry.actor,
      entry.action,
      entry.type === undefined ? null : tableOf({ ...entry.type, functionName: '' }),
      entry.target ?? null,
      entry.affected,
      entry.details === undefined ? null : JSON.stringify(entry.details),
    ],
  )
}

/** What operators did, newest first; the next page goes on before an entry's id. */
export async function listAudit(
  connection: Queryable,
  { limit = 50, before }: { readonly limit?: number | undefined; readonly before?: string | undefined } = {},
): Promise<WrittenAuditEntry[]> {
  const result = await connection.query(
    `select a.id::text as id, a.acted_at::text as "actedAt", a.actor, a.role_name as "roleName", a.action, a.table_name as "table",
       a.target, a.affected::double precision as affected, a.details
     from tasks.audit a where $1::bigint is null or a.id < $1::bigint order by a.id desc limit $2::integer`,
    [before ?? null, limit],
  )
  return result.rows as WrittenAuditEntry[]
}
