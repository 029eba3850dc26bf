import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { filesToRun } from './faults-page.js'

// `npm run test:faults [-- vitest arguments]`, and with --slow the tests that need minutes.
const root = join(import.meta.dirname, '..', '..')
const options = process.argv.slice(2)
const slow = options.includes('--slow')
const vitestArguments = options.filter((option) => option !== '--slow')

const { status } = spawnSync(
  process.execPath,
  [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...filesToRun(slow), ...vitestArguments],
  { cwd: root, stdio: 'inherit', env: { ...process.env, ...(slow ? { TEST_SLOW: 'yes' } : {}) } },
)
process.exitCode = status ?? 1
