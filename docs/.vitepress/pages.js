import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The repository's root; paths of pages are relative to it, with slashes. */
export const ROOT = join(import.meta.dirname, '..', '..')

/** Pages outside of docs/ that its pages link to. */
const OUTSIDE = [
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'README.md',
  'SECURITY.md',
  'examples/README.md',
  'migrations/README.md',
  'test/chaos/README.md',
  'test/support/README.md',
]

/** Every page of the site, by its file. */
export const PAGES = [...inDocs(), ...OUTSIDE, ...packageReadmes()].filter(isFile)

/** Where a page stands on the site: docs/ is its root, and a README stands for its folder. */
export function routeOf(page) {
  if (page === 'docs/README.md') return 'index.md'
  return page
    .replace(/^docs\//, '')
    .replace(/\/README\.md$/, '.md')
    .toLowerCase()
}

/** Whether a path of the repository is a file. */
export function isFile(path) {
  return existsSync(join(ROOT, path)) && statSync(join(ROOT, path)).isFile()
}

function inDocs() {
  return readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`)
}

function packageReadmes() {
  return readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}/README.md`)
}
