import { join } from 'node:path'
import { stop } from '@pg-tasks/embedded'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from '../../support/temporary-folder.js'

/** A directory for start() that doesn't exist yet; its server is stopped after the test. */
export function embeddedDirectory(parent?: string): string {
  const directory = join(temporaryFolder(parent), 'postgres')
  // Runs before the removal of the folder, which was registered earlier.
  onTestFinished(async () => {
    await stop(directory)
  })
  return directory
}
