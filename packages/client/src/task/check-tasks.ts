import { InvalidArgumentError } from '../errors/invalid-argument-error.js'
import { named } from '../options/named.js'

/** @throws InvalidArgumentError unless these are rows of columns */
export function checkTasks(tasks: unknown): void {
  if (!Array.isArray(tasks)) {
    throw new InvalidArgumentError('tasks', `must be an array of tasks, not ${named(tasks)}.`)
  }
  for (const task of tasks) {
    // Any class may make the object; a promise is one too, and would be a task without a column.
    const isRow = typeof task === 'object' && task !== null && !Array.isArray(task) && typeof task.then !== 'function'
    if (!isRow) throw new InvalidArgumentError('task', `must be an object of columns, not ${named(task)}.`)
  }
}
