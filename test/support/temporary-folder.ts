import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A new folder for the running test, removed after it. It has the usual mode, unlike that of mkdtemp. */
export function temporaryFolder(parent: string = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'pg-tasks-test-'))
  chmodSync(folder, 0o755)
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}
