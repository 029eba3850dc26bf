import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { publishedPackages } from './published-packages.js'

export const run = promisify(execFile)

/** Gives the work each package with its tarball; they are removed afterwards. */
export async function withTarballs(work) {
  const folder = await mkdtemp(join(tmpdir(), 'pg-tasks-packages-'))
  try {
    const packed = []
    for (const one of publishedPackages()) packed.push({ ...one, tarball: await pack(one.folder, folder) })
    return await work(packed)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The build that is there, as it would be published. pnpm packs, because only pnpm writes versions for `workspace:^`. */
export async function pack(folder, destination) {
  const words = ['-y', 'pnpm@12.21.0', 'pack', '--json', '--pack-destination', destination]
  const { stdout } = await run('npx', words, { cwd: folder, maxBuffer: 2 ** 26 })
  return JSON.parse(stdout.slice(stdout.indexOf('{'))).filename
}
