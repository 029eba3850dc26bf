import { InvalidArgumentError } from '../errors/invalid-argument-error.js'

/** A task's id as callers may have it. Numbers must be exact. */
export type TaskId = string | number | bigint

/** A task, or its id. */
export type TaskOrId = TaskId | { readonly id: TaskId; readonly run_token?: string | null }

/** The id as the database writes it. */
function normalizeId(id: TaskId): string {
  if (typeof id === 'bigint') return id.toString()
  if (typeof id === 'number' && Number.isSafeInteger(id)) return String(id)
  if (typeof id === 'string' && /^-?\d+$/.test(id)) return BigInt(id).toString()
  throw new InvalidArgumentError(
    'task',
    `must be a task or its id (a whole number, beyond 2^53 as string or bigint), not ${typeof id}.`,
  )
}

/** The id of a task that is given whole, or by its id. */
export function idOf(task: TaskOrId): string {
  if (typeof task === 'object' && task !== null) return normalizeId(task.id)
  return normalizeId(task)
}
