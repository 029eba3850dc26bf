import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** graphile-worker 0.18 asks for 22.18, pg-boss 12 for 22.12. */
const NEEDED: readonly [number, number] = [22, 18]

/** The Node that runs all participants: the one that npm brought with this package, else this one if it is new enough. */
export function nodeBinary(): string {
  const require = createRequire(import.meta.url)
  try {
    return join(dirname(require.resolve(`node-${process.platform}-${process.arch}/package.json`)), 'bin', 'node')
  } catch {
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
    if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) return process.execPath
    throw new Error(`The peers need Node ${NEEDED.join('.')} or later; this is ${process.versions.node}`)
  }
}
