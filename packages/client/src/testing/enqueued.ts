import { AssertionError } from 'node:assert'
import { inspect, isDeepStrictEqual } from 'node:util'
import { type Connection, listTasks, type TemplateRow, toQueryable } from '@pg-tasks/sql'
import { InvalidArgumentError } from '../errors/invalid-argument-error.js'
import { optionsOf } from '../task/check-task.js'
import type { Columns } from '../task/claimed.js'
import type { Task } from '../task/task.js'

/** A row that waits, with its own columns. */
type WaitingRow<Own extends Columns> = TemplateRow & Readonly<Own>

/** What a task's columns must be: equal to a value, or what a function says yes to. Columns not named may be anything. */
export type ExpectedColumns<Own extends Columns> = {
  readonly [Name in keyof WaitingRow<Own>]?: WaitingRow<Own>[Name] | ((value: WaitingRow<Own>[Name]) => boolean)
}

/** Most tasks that are looked at. */
const MOST = 10_000

/** Tasks that wait (scheduled or ready) and whose columns are as expected, in the order in which they were enqueued. */
export async function enqueuedTasks<Own extends Columns>(
  connection: Connection,
  task: Task<Own>,
  expected: ExpectedColumns<Own> = {},
): Promise<Array<WaitingRow<Own>>> {
  return (await waiting(connection, task)).filter((row) => fits(row, expected))
}

/**
 * Fails unless such a task waits; returns the first.
 *
 * @param options.count - how many there must be; defaults to one or more
 * @throws AssertionError that shows what waits
 *
 * @example
 * await assertEnqueued(tx, sendWelcome, { email: 'ada@example.com', planned_to: (at) => at > tomorrow })
 */
export async function assertEnqueued<Own extends Columns>(
  connection: Connection,
  task: Task<Own>,
  expected: ExpectedColumns<Own> = {},
  options: { readonly count?: number } = {},
): Promise<WaitingRow<Own>> {
  const rows = await waiting(connection, task)
  const found = rows.filter((row) => fits(row, expected))
  const { count } = options
  if (found.length === 0 || (count !== undefined && found.length !== count)) {
    const wanted = count === undefined ? 'a task' : `${count} tasks`
    throw failure(task, `Expected ${wanted} with ${show(expected)}, found ${found.length}`, rows, assertEnqueued)
  }
  return found[0] as WaitingRow<Own>
}

/**
 * Fails if such a task waits.
 *
 * @throws AssertionError that shows what waits
 */
export async function assertNotEnqueued<Own extends Columns>(
  connection: Connection,
  task: Task<Own>,
  expected: ExpectedColumns<Own> = {},
): Promise<void> {
  const found = await enqueuedTasks(connection, task, expected)
  if (found.length === 0) return
  throw failure(task, `Expected no task with ${show(expected)}, found ${found.length}`, found, assertNotEnqueued)
}

async function waiting<Own extends Columns>(connection: Connection, task: Task<Own>): Promise<Array<WaitingRow<Own>>> {
  const listed = await listTasks(toQueryable(connection), optionsOf(task), {
    states: ['scheduled', 'ready'],
    order: 'oldest',
    limit: MOST,
  })
  return listed.map(({ row }) => row as unknown as WaitingRow<Own>)
}

/** @throws InvalidArgumentError for a column that the table doesn't have: by that no task would ever be found */
function fits<Own extends Columns>(row: WaitingRow<Own>, expected: ExpectedColumns<Own>): boolean {
  const unknown = Object.keys(expected).find((column) => !Object.hasOwn(row, column))
  if (unknown !== undefined) {
    throw new InvalidArgumentError('expected', `names the column "${unknown}", which the table does not have.`)
  }
  return Object.entries(expected).every(([column, wanted]) => {
    const value: unknown = Reflect.get(row, column)
    return typeof wanted === 'function' ? Boolean(wanted(value)) : isDeepStrictEqual(value, wanted)
  })
}

function failure(
  { options: { schema, table } }: Task<never> | Task<object>,
  message: string,
  rows: readonly object[],
  caller: (...args: never[]) => unknown,
): AssertionError {
  const shown = rows.length === 0 ? 'Nothing waits.' : `There wait: ${show(rows.slice(0, 10).map(withoutNulls))}`
  return new AssertionError({ message: `${schema}.${table}: ${message}. ${shown}`, stackStartFn: caller })
}

function withoutNulls(row: object): object {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))
}

function show(value: unknown): string {
  return inspect(value, { depth: 4, breakLength: 120 })
}
