import { beforeEach } from 'vitest'
import { killAllProcesses } from './worker-process.js'

let tries = 0

/** Whether the running test failed before and is tried once more, with what its first try has left. */
export function isAnotherTry(): boolean {
  return tries > 0
}

/** Called once per test file, by its setup. */
export function countTries(): void {
  beforeEach(async ({ task }) => {
    tries = task.result?.retryCount ?? 0
    if (tries > 0) await killAllProcesses()
  })
}
