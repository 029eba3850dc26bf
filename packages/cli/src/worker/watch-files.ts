import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** An editor writes a file in several steps. */
const SETTLE_MS = 150
const MOST_FOLDERS = 2_000

/** Calls back when a file changes in the folders of the modules or below; what begins with a dot and node_modules is left out. */
export function watchFiles(modules: readonly string[], onChange: (file: string) => void): () => void {
  const watchers: FSWatcher[] = []
  let timer: NodeJS.Timeout | undefined
  for (const folder of foldersOf(modules)) {
    const watcher = watch(folder, (_event, name) => {
      if (name === null || name.startsWith('.') || name.endsWith('~')) return
      clearTimeout(timer)
      timer = setTimeout(() => onChange(join(folder, name)), SETTLE_MS)
    })
    // A folder that goes away is no reason to end.
    watcher.on('error', () => watcher.close())
    watchers.push(watcher)
  }
  return () => {
    clearTimeout(timer)
    for (const watcher of watchers) watcher.close()
  }
}

function foldersOf(modules: readonly string[]): ReadonlySet<string> {
  const folders = new Set(modules.map((module) => dirname(resolve(module))))
  for (const folder of folders) {
    if (folders.size >= MOST_FOLDERS) break
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
        folders.add(join(folder, entry.name))
    }
  }
  return folders
}
