import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { nodeBinary } from './server/node-binary.js'

/** Versions of what takes part. */
export function versions(): Record<string, string> {
  return {
    Node: execFileSync(nodeBinary(), ['--version'], { encoding: 'utf8' }).trim(),
    'pg-tasks': versionOf('@pg-tasks/client'),
    'graphile-worker': versionOf('graphile-worker'),
    'pg-boss': versionOf('pg-boss'),
    pg: versionOf('pg'),
  }
}

/** Not every package lets its package.json be resolved: it is looked for above the package's entry. */
function versionOf(name: string): string {
  const require = createRequire(import.meta.url)
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      return JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')).version
    } catch {
      // Not in this folder.
    }
  }
  return `unknown (${dirname(import.meta.dirname)})`
}
