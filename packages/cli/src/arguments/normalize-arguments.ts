import { statSync } from 'node:fs'

/**
 * `--embedded [directory]` takes its directory as the next word only where that can't be meant as something else: `worker
 * --embedded tasks.ts` names a module, `list --embedded send_invoice` a type. What is written with `=` is always taken.
 */
export function normalizeArguments(args: readonly string[]): string[] {
  const normalized: string[] = []
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] as string
    if (word === '--') return [...normalized, ...args.slice(at)]
    if (word !== '--embedded') {
      normalized.push(word)
      continue
    }
    const next = args[at + 1]
    if (next !== undefined && isDirectory(next)) at += 1
    normalized.push(next !== undefined && isDirectory(next) ? `--embedded=${next}` : '--embedded=')
  }
  return normalized
}

function isDirectory(word: string): boolean {
  if (word.startsWith('-')) return false
  const there = statSync(word, { throwIfNoEntry: false })
  if (there !== undefined) return there.isDirectory()
  return /[/\\]/.test(word) && !/\.[cm]?[jt]sx?$/.test(word)
}
