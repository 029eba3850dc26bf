import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Page, ROOT, taughtPages } from './pages.js'

const TIMEOUT_MS = 60_000
const LANGUAGES = ['sh', 'bash', 'shell', 'console']

/** Commands that come with a system, or with what a guide is about, and that can't be looked up here. */
const SYSTEM = new Set([
  'cd',
  'docker',
  'kubectl',
  'npm',
  'npx',
  'psql',
  'pg_dump',
  'systemctl',
  'createdb',
  'for',
  'curl',
  'node',
  'export',
  'mkdir',
  'pg-tasks',
  'pg_restore',
  'git',
])

interface Command {
  readonly words: readonly string[]
  /** For messages: the page and the line. */
  readonly place: string
}

/** The simple commands of a page's blocks: their words, without comments, redirections and environment. */
function commandsOf(page: Page): readonly Command[] {
  return page.blocks
    .filter(({ language }) => LANGUAGES.includes(language))
    .flatMap(({ content, line }) =>
      content
        .replaceAll(/\\\n/g, ' ')
        .split('\n')
        .flatMap((text, index) =>
          text
            .replace(/(^|\s)#.*/, '')
            .split(/&&|\|\||;|\|/)
            .map((part) => wordsOf(part))
            .filter((words) => words.length > 0)
            .map((words) => ({ words, place: `${page.path}:${line + index}` })),
        ),
    )
}

function wordsOf(text: string): readonly string[] {
  const words = [...text.matchAll(/"[^"]*"|'[^']*'|\S+/g)].map(([word]) => word)
  while (/^(\$|do|done|[A-Z_]+=.*)$/.test(words[0] ?? '')) words.shift()
  return words
}

function problemOf({ words, place }: Command, page: Page, known: Known): string | undefined {
  const [program = '', ...rest] = words
  const [first, second] = rest
  if (program === 'npm' && first === 'run' && !known.scripts.has(second ?? '')) return `${place}: no script ${second}`
  if (program === 'npm' && first === 'run' && second === 'example' && !existsSync(join(ROOT, rest[2] ?? ''))) {
    return `${place}: no file ${rest[2]}`
  }
  const ours = program === 'pg-tasks' ? rest : program === 'npx' && first === 'pg-tasks' ? rest.slice(1) : undefined
  const command = ours?.find((word) => !word.startsWith('-'))
  if (command !== undefined && !known.commands.has(command)) return `${place}: pg-tasks has no command ${command}`
  const files = rest.filter((_, index) => rest[index - 1] === '-f' && !/[$"']/.test(rest[index] ?? ''))
  if (program === 'psql' && !files.every((file) => existsFrom(page, file)))
    return `${place}: no file of ${files.join(', ')}`
  if (!SYSTEM.has(program) && !/^[./]/.test(program))
    return `${place}: ${program} is a command that this test doesn't know`
  return undefined
}

function existsFrom(page: Page, file: string): boolean {
  return existsSync(join(ROOT, file)) || existsSync(join(ROOT, dirname(page.path), file))
}

interface Known {
  readonly scripts: ReadonlySet<string>
  readonly commands: ReadonlySet<string>
}

async function runToEnd(
  program: string,
  words: readonly string[],
  input = '',
): Promise<{ code: number; output: string }> {
  const child = spawn(program, words, { cwd: ROOT, env: { ...process.env, NO_COLOR: '1' } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
  child.stdin.end(input)
  const [code] = (await once(child, 'close')) as [number]
  return { code, output }
}

/** As its own help lists them. */
async function readCommands(): Promise<ReadonlySet<string>> {
  const program = ['--conditions=@pg-tasks/source', '--import', 'tsx', 'packages/cli/src/main.ts', '--help']
  const { output } = await runToEnd(process.execPath, program)
  return new Set([...output.matchAll(/^ {2}([a-z][\w-]*)(?: \[| <| {2})/gm)].map(([, name]) => name ?? ''))
}

describe('the shell commands of the documentation', () => {
  const pages = taughtPages().filter(({ blocks }) => blocks.some(({ language }) => LANGUAGES.includes(language)))
  let known: Known

  beforeAll(async () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object }
    known = { scripts: new Set(Object.keys(scripts)), commands: await readCommands() }
  }, TIMEOUT_MS)

  it.each(pages.map((page) => [page.path, page] as const))('name what is there: %s', async (_, page) => {
    expect(commandsOf(page).flatMap((command) => problemOf(command, page, known) ?? [])).toEqual([])
    for (const { language, content, line } of page.blocks) {
      if (!LANGUAGES.includes(language)) continue
      expect(await runToEnd('bash', ['-n'], content), `${page.path}:${line}`).toEqual({ code: 0, output: '' })
    }
  })

  it('would be found wrong', () => {
    const content =
      'npm run nonsense\nnpm run docs && npx pg-tasks nonsense --json # a comment\nDATABASE_URL=x npx pg-tasks migrate\nnpm run example examples/gone.ts\npsql -f gone.sql\nnonsense\n'
    const page = { path: 'docs/page.md', text: '', blocks: [{ language: 'sh', content, line: 10 }] }
    expect(commandsOf(page).flatMap((command) => problemOf(command, page, known) ?? [])).toEqual([
      'docs/page.md:10: no script nonsense',
      'docs/page.md:11: pg-tasks has no command nonsense',
      'docs/page.md:13: no file examples/gone.ts',
      'docs/page.md:14: no file of gone.sql',
      "docs/page.md:15: nonsense is a command that this test doesn't know",
    ])
  })
})
