import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * Runs the tests on every PostgreSQL version with the Node that runs this, and on the newest PostgreSQL with other Nodes, which
 * npm's package `node` brings: `npm run test:matrix [-- [--majors=14,18] [--nodes=22,24] [vitest arguments]]`; an empty list
 * leaves that half out. Goes on after a failure, and tells at the end what failed.
 */
const root = join(import.meta.dirname, '..')
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const NEWEST = '18'

const vitestArguments = process.argv.slice(2)
const majors = take('--majors=', ['14', '15', '16', '17', NEWEST])
const nodes = take('--nodes=', ['22', '24'])

const runs = [
  ...majors.map((major) => ({ name: `PostgreSQL ${major}`, major, command: [process.execPath] })),
  ...nodes.map((version) => ({
    name: `Node ${version}, PostgreSQL ${NEWEST}`,
    major: NEWEST,
    // The processes that tests start run on process.execPath, so on this Node too.
    command: ['npx', '-y', '-p', `node@${version}`, '--', 'node'],
  })),
]

const failed = runs.filter(({ name, major, command: [program, ...before] }) => {
  process.stdout.write(`\n${name}\n`)
  const { status } = spawnSync(program, [...before, vitest, 'run', ...vitestArguments], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, TEST_POSTGRES_MAJOR: major },
    shell: program === 'npx' && process.platform === 'win32',
  })
  return status !== 0
})

process.stdout.write(
  failed.length === 0 ? '\nAll passed.\n' : `\nFailed: ${failed.map(({ name }) => name).join('; ')}.\n`,
)
process.exitCode = failed.length === 0 && runs.length > 0 ? 0 : 1

/** Takes an option with a list out of the arguments; what stays is for vitest. */
function take(option, otherwise) {
  const index = vitestArguments.findIndex((one) => one.startsWith(option))
  if (index < 0) return otherwise
  const [given] = vitestArguments.splice(index, 1)
  return given
    .slice(option.length)
    .split(',')
    .filter((one) => one !== '')
}
