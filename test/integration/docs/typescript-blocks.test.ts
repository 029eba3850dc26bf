import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { type Page, ROOT, taughtPages } from './pages.js'

const TIMEOUT_MS = 120_000

/** What a page's fragments may take for granted, in a comment that readers don't see. */
const CONTEXT = /<!-- context of the ts blocks\n([\s\S]*?)-->/

interface Source {
  readonly content: string
  /** For messages: the page and the line that the block begins at. */
  readonly page: string
  readonly line: number
}

/** The first line of a block that other blocks import: `// tasks.ts`. Only one block of all may have such a name. */
const FILE_NAME = /^\/\/ ([\w-]+\.ts)\n/

/** Blocks with an import are whole modules; the others are fragments in their page's context. */
function sourcesOf(page: Page): ReadonlyArray<readonly [file: string, Source]> {
  const context = CONTEXT.exec(page.text)?.[1] ?? ''
  const sources: Array<readonly [string, Source]> = []
  for (const { language, content, line } of page.blocks) {
    if (language !== 'ts') continue
    const before = /^import /m.test(content) ? '' : context
    const name = FILE_NAME.exec(content)?.[1] ?? `${page.path.replaceAll(/\W/g, '-')}-${line}.ts`
    const file = join(import.meta.dirname, name)
    // A module even without import and export, so that names don't meet those of other blocks.
    const source = {
      content: `${before}${content}\nexport {}\n`,
      page: page.path,
      line: line - before.split('\n').length + 1,
    }
    sources.push([file, source])
  }
  return sources
}

/** Compiles the blocks as files that are only in memory, against the sources of our packages. Returns the errors. */
function compile(pages: readonly Page[]): readonly string[] {
  const config = ts.readConfigFile(join(ROOT, 'tsconfig.base.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, ROOT)
  const all = pages.flatMap(sourcesOf)
  const sources = new Map(all)
  if (sources.size < all.length) throw new Error('Two blocks begin with the same file name.')
  const settings = {
    ...options,
    composite: false,
    incremental: false,
    noEmit: true,
    declaration: false,
    declarationMap: false,
  }
  const host = ts.createCompilerHost(settings)
  const { getSourceFile, fileExists, readFile } = host
  host.fileExists = (file) => sources.has(file) || fileExists(file)
  host.readFile = (file) => sources.get(file)?.content ?? readFile(file)
  host.getSourceFile = (file, version, ...rest) => {
    const source = sources.get(file)
    return source === undefined
      ? getSourceFile(file, version, ...rest)
      : ts.createSourceFile(file, source.content, version)
  }
  const program = ts.createProgram([...sources.keys()], settings, host)
  return [...sources].flatMap(([file, source]) => {
    const sourceFile = program.getSourceFile(file)
    const found = [...program.getSyntacticDiagnostics(sourceFile), ...program.getSemanticDiagnostics(sourceFile)]
    return found.map((one) => {
      const line = sourceFile?.getLineAndCharacterOfPosition(one.start ?? 0).line ?? 0
      return `${source.page}:${source.line + line}: ${ts.flattenDiagnosticMessageText(one.messageText, '\n')}`
    })
  })
}

describe('the TypeScript of the documentation', () => {
  it('compiles', { timeout: TIMEOUT_MS }, () => {
    const pages = taughtPages()
    expect(pages.flatMap((page) => page.blocks).filter((block) => block.language === 'ts').length).toBeGreaterThan(0)
    expect(compile(pages)).toEqual([])
  })

  it('would be found wrong', { timeout: TIMEOUT_MS }, () => {
    const text = `<!-- context of the ts blocks
import { Task } from '@pg-tasks/client'
declare const task: Task
-->`
    const blocks = [
      { language: 'ts', line: 10, content: 'task.options.table satisfies string\ntask.options.tabel\n' },
      {
        language: 'ts',
        line: 20,
        content: "import { Worker } from '@pg-tasks/client'\n\nnew Worker({ pollIntervalMs: 'soon' })\n",
      },
      { language: 'json', line: 30, content: '{' },
    ]
    expect(compile([{ path: 'page.md', text, blocks }])).toEqual([
      expect.stringMatching(/^page\.md:11: Property 'tabel' does not exist/),
      expect.stringMatching(/^page\.md:22: Type 'string' is not assignable to type 'number'/),
    ])
  })
})
