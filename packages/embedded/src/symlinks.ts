import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/**
 * Puts back the symbolic links between libraries, which npm packages can't contain. The packages' install script does
 * the same, where install scripts are allowed.
 *
 * @returns whether all are there; `false` if the folder can't be written to
 */
export function restoreSymlinks(native: string): boolean {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return true
  const root = dirname(native)
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  return links.every(({ source, target }) => restore(join(root, source), join(root, target)))
}

function restore(source: string, target: string): boolean {
  if (existsSync(target)) return true
  try {
    symlinkSync(relative(dirname(target), source), target)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EEXIST'
  }
}
