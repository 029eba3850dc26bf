import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/** The repository's root. */
export const ROOT = join(import.meta.dirname, '..', '..', '..')

/** Written by others, in their own time; only links are checked there. */
const RECORDS = join('docs', 'decisions')

/** A fenced block of a page. */
export interface Block {
  /** `ts`, `sql`, … */
  readonly language: string
  readonly content: string
  /** The line of the page that its content begins at, from 1. */
  readonly line: number
}

/** A page of the documentation. */
export interface Page {
  /** Relative to the repository's root, with slashes. */
  readonly path: string
  readonly text: string
  readonly blocks: readonly Block[]
}

/** README, everything in docs, and the packages' READMEs. */
export function allPages(): readonly Page[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path))
  const packages = readdirSync(join(ROOT, 'packages')).map((name) => join('packages', name, 'README.md'))
  const more = ['README.md', 'CONTRIBUTING.md', join('examples', 'README.md'), ...packages]
  return [...more, ...docs].sort().flatMap(readPage)
}

/** The pages that teach: their examples must run. */
export function taughtPages(): readonly Page[] {
  return allPages().filter((page) => !page.path.startsWith(RECORDS.replaceAll('\\', '/')))
}

function readPage(path: string): readonly Page[] {
  const file = join(ROOT, path)
  try {
    const text = readFileSync(file, 'utf8').replaceAll('\r\n', '\n')
    return [{ path: relative(ROOT, file).replaceAll('\\', '/'), text, blocks: blocksOf(text) }]
  } catch (error) {
    // Not every package has a README.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = []
  let open: { indent: number; fence: string; language: string; line: number; lines: string[] } | undefined
  for (const [index, line] of text.split('\n').entries()) {
    const [all, indentation = '', fence = '', language = ''] = /^(\s*)(`{3,})(\S*)/.exec(line) ?? []
    if (open === undefined) {
      if (all !== undefined) open = { indent: indentation.length, fence, language, line: index + 2, lines: [] }
    } else if (all !== undefined && fence.length >= open.fence.length && language === '') {
      blocks.push({ language: open.language, content: `${open.lines.join('\n')}\n`, line: open.line })
      open = undefined
    } else {
      // In a list, blocks are indented as a whole.
      open.lines.push(line.slice(0, open.indent).trim() === '' ? line.slice(open.indent) : line)
    }
  }
  if (open !== undefined) throw new Error(`The block that begins at line ${open.line} never ends`)
  return blocks
}

/** The page without its blocks, its code spans and its comments: what is read as text. */
export function proseOf(page: Page): string {
  return page.text
    .replaceAll(/^\s*(`{3,})[\s\S]*?^\s*\1\s*$/gm, '')
    .replaceAll(/<!--[\s\S]*?-->/g, '')
    .replaceAll(/`[^`\n]*`/g, '')
}
