import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** Folders that hold no sources. */
const PASSED_BY = new Set(['node_modules', 'dist', 'coverage'])

/**
 * All regular files under a folder, relative to it and sorted. Folders whose name begins with a dot, `node_modules`, `dist`
 * and `coverage` are passed by, and so are symbolic links and the folder `except`.
 */
export async function listFiles(folder: string, except: string): Promise<readonly string[]> {
  const files: string[] = []
  const folders = [folder]
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for (const entry of await readdir(next, { withFileTypes: true })) {
      const path = join(next, entry.name)
      if (entry.isFile()) files.push(relative(folder, path))
      else if (entry.isDirectory() && !isPassedBy(entry.name) && path !== except) folders.push(path)
    }
  }
  return files.sort()
}

function isPassedBy(name: string): boolean {
  return name.startsWith('.') || PASSED_BY.has(name)
}
