import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { UsageError } from '../cli-error.js'

/**
 * What Node must be started with to import these modules: nothing for JavaScript; for TypeScript tsx, if the user's project has
 * it, else Node's own type stripping, if this Node has it.
 *
 * @throws UsageError if neither is there
 */
export function typescriptOptions(modules: readonly string[], folder: string = process.cwd()): string[] {
  if (!modules.some((module) => /\.[cm]?tsx?$/.test(module))) return []
  const tsx = resolveTsx(folder)
  if (tsx !== undefined) return ['--import', pathToFileURL(tsx).href]
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)) return []
  if (major === 22 && minor >= 6) return ['--experimental-strip-types']
  throw new UsageError(
    'This Node cannot run TypeScript, and tsx is not installed in this project.',
    'npm install --save-dev tsx',
  )
}

function resolveTsx(folder: string): string | undefined {
  try {
    return createRequire(join(folder, 'package.json')).resolve('tsx')
  } catch {
    return undefined
  }
}
