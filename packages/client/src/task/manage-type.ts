import {
  type Connection,
  limitConcurrency as concurrency,
  createGroup as create,
  type KeyLimit,
  keepHistory as keep,
  limitKeys as keys,
  pauseType as pause,
  type Queryable,
  type RateLimit,
  limitRate as rate,
  resumeType as resume,
  toQueryable,
  type UniqueRule,
  uniqueWhile as unique,
  useGroups as use,
} from '@pg-tasks/sql'
import { fromDatabaseError } from '../errors/from-database-error.js'
import { optionsOf } from './check-task.js'
import type { Columns, NewTask } from './claimed.js'
import { checkKnown } from './known-options.js'
import type { Task } from './task.js'

/** Any task type, whatever its columns. */
export type AnyTask = Task<never> | Task<object>

/** From now on no task of the type is acquired, by any worker, until it is resumed; running ones go on. */
export function pauseType(connection: Connection, task: AnyTask, reason?: string): Promise<void> {
  return ask(connection, (queryable) => pause(queryable, optionsOf(task), reason))
}

/** Resumes a paused type. */
export function resumeType(connection: Connection, task: AnyTask): Promise<void> {
  return ask(connection, (queryable) => resume(queryable, optionsOf(task)))
}

/** At most so many tasks of the type run at once in all processes; null: no limit. */
export function limitConcurrency(connection: Connection, task: AnyTask, most: number | null): Promise<void> {
  return ask(connection, (queryable) => concurrency(queryable, optionsOf(task), most))
}

/** Limits how often tasks of the type start in all processes; null: no limit. */
export async function limitRate(connection: Connection, task: AnyTask, limit: RateLimit | null): Promise<void> {
  checkKnown('limitRate', limit ?? {})
  return ask(connection, (queryable) => rate(queryable, optionsOf(task), limit))
}

/** Tasks with equal values in the columns run in order, so many at once; null: no keys. */
export async function limitKeys(connection: Connection, task: AnyTask, limit: KeyLimit | null): Promise<void> {
  checkKnown('limitKeys', limit ?? {})
  return ask(connection, (queryable) => keys(queryable, optionsOf(task), limit))
}

/** At most one waiting task with equal values in the columns; null: no longer. */
export async function uniqueWhile(connection: Connection, task: AnyTask, rule: UniqueRule | null): Promise<void> {
  checkKnown('uniqueWhile', rule ?? {})
  return ask(connection, (queryable) => unique(queryable, optionsOf(task), rule))
}

/** Lets tasks of the type belong to groups; idempotent. */
export function useGroups(connection: Connection, task: AnyTask): Promise<void> {
  return ask(connection, (queryable) => use(queryable, optionsOf(task)))
}

/**
 * Creates a group: once its last member has ended, one task of the callback's type is enqueued. Enqueue the members, with the
 * key as `group_key`, in the same transaction.
 *
 * @param options.policy - `always` (the default), or `all_finished`: no callback if a member failed or was canceled
 */
export async function createGroup<Own extends Columns>(
  connection: Connection,
  key: string,
  callback: Task<Own>,
  columns: Omit<NewTask<Own>, 'planned_to'>,
  options: { readonly policy?: 'always' | 'all_finished' } = {},
): Promise<void> {
  checkKnown('createGroup', options)
  const group = {
    key,
    callback: optionsOf(callback),
    columns: columns as Readonly<Record<string, unknown>>,
    ...options,
  }
  return ask(connection, (queryable) => create(queryable, group))
}

/** Writes a row per attempt of the type into `tasks.attempts`, kept for `keepMs` milliseconds; null: no more. */
export function keepHistory(connection: Connection, task: AnyTask, keepMs: number | null): Promise<void> {
  return ask(connection, (queryable) => keep(queryable, optionsOf(task), keepMs))
}

async function ask<Value>(connection: Connection, statement: (queryable: Queryable) => Promise<Value>): Promise<Value> {
  try {
    return await statement(toQueryable(connection))
  } catch (error) {
    throw fromDatabaseError(error)
  }
}
