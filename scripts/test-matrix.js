import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * Runs the tests on every PostgreSQL version: `npm run test:matrix [-- [--majors=14,18] [vitest arguments]]`.
 * Goes on after a failure, and tells at the end which versions failed.
 */
const root = join(import.meta.dirname, '..')
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const MAJORS_OPTION = '--majors='

const options = process.argv.slice(2)
const chosen = options.find((option) => option.startsWith(MAJORS_OPTION))
const majors = chosen?.slice(MAJORS_OPTION.length).split(',') ?? ['14', '15', '16', '17', '18']
const vitestArguments = options.filter((option) => option !== chosen)

const failed = majors.filter((major) => {
  process.stdout.write(`\nPostgreSQL ${major}\n`)
  const { status } = spawnSync(process.execPath, [vitest, 'run', ...vitestArguments], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, TEST_POSTGRES_MAJOR: major },
  })
  return status !== 0
})

process.stdout.write(
  failed.length === 0 ? '\nAll versions passed.\n' : `\nFailed on PostgreSQL ${failed.join(', ')}.\n`,
)
process.exitCode = failed.length === 0 ? 0 : 1
