import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const execute = promisify(execFile)
const TIMEOUT_MS = 60_000

/**
 * Runs a program that needs Node 22, as pg-boss and graphile-worker do, and resolves with what it printed. It may be TypeScript
 * whose types can be erased.
 */
export async function runOnNode22(
  program: URL,
  words: readonly string[],
  env: Record<string, string>,
): Promise<string> {
  const options = { env: { ...process.env, NODE_OPTIONS: '', ...env }, timeout: TIMEOUT_MS }
  const { stdout } = await execute(nodeBinary(), [fileURLToPath(program), ...words], options)
  return stdout
}

/** npm brings it for the benchmark. */
function nodeBinary(): string {
  const [major = 0] = process.versions.node.split('.').map(Number)
  if (major >= 22) return process.execPath
  const require = createRequire(join(import.meta.dirname, '..', '..', 'packages', 'bench', 'package.json'))
  return join(dirname(require.resolve(`node-${process.platform}-${process.arch}/package.json`)), 'bin', 'node')
}
