import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '..', '..')

/** The packages that are published, each with its folder and its package.json. */
export function publishedPackages() {
  const packages = join(ROOT, 'packages')
  return readdirSync(packages)
    .sort()
    .map((name) => join(packages, name))
    .map((folder) => ({ folder, manifest: JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) }))
    .filter(({ manifest }) => manifest.private !== true)
}
