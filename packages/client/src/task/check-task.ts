import { InvalidArgumentError } from '../errors/invalid-argument-error.js'
import { named } from '../options/named.js'
import type { ResolvedTaskOptions } from './task-options.js'

/**
 * The options of a Task that a caller has given; by them its table is known.
 *
 * @throws InvalidArgumentError where something else was given, such as its class
 */
export function optionsOf(task: unknown): ResolvedTaskOptions {
  const options = typeof task === 'object' && task !== null ? (task as { options?: unknown }).options : undefined
  if (typeof options === 'object' && options !== null) return options as ResolvedTaskOptions
  if (typeof task !== 'function')
    throw new InvalidArgumentError('task', `must be an instance of a class that extends Task, not ${named(task)}.`)
  throw new InvalidArgumentError('task', `must be a Task, not its class: give new ${task.name || 'MyTask'}(…).`)
}
