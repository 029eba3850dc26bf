import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { verdictOf } from './audit/verdict.js'

/**
 * Asks the registry for known vulnerabilities of our dependencies: `npm run audit`. One of severity high or above fails; a
 * registry that can't be asked doesn't.
 */
const result = spawnSync('npx', ['-y', 'pnpm@12.21.0', 'audit', '--json', '--audit-level', 'high'], {
  cwd: join(import.meta.dirname, '..'),
  encoding: 'utf8',
  timeout: 120_000,
  shell: process.platform === 'win32',
})
const { passed, lines } = verdictOf({
  status: result.status,
  stdout: result.stdout ?? '',
  stderr: `${result.stderr ?? ''}${result.error ? `\n${result.error.message}` : ''}`,
})
process.stdout.write(`${lines.join('\n')}\n`)
process.exitCode = passed ? 0 : 1
