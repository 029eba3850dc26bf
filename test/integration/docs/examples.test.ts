import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { spawnScript } from '../../support/worker-process.js'
import { allPages, ROOT } from './pages.js'

const FOLDER = join(ROOT, 'examples')
const TIMEOUT_MS = 60_000

/** Shared by the examples, and no example itself. */
const SUPPORT = 'with-database.ts'

const examples = readdirSync(FOLDER).filter((name) => name.endsWith('.ts') && name !== SUPPORT)

/** What the comment at the end of an example says that it prints. */
function expectedOutput(source: string): readonly string[] {
  const [, comment] = source.split('\n// Output:\n')
  return (comment ?? '')
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^\/\/ ?/, ''))
}

describe('the examples', () => {
  it.each(examples)('prints what it says: %s', { timeout: TIMEOUT_MS }, async (name) => {
    const { url } = await createDatabase({ migrations: false })
    const run = spawnScript(join(FOLDER, name), { env: { DATABASE_URL: url, NO_COLOR: '1' } })
    const { code } = await run.exited
    expect(run.output).toEqual(expectedOutput(readFileSync(join(FOLDER, name), 'utf8')))
    expect(code).toBe(0)
  })

  it('are listed in their README', () => {
    const page = allPages().find(({ path }) => path === 'examples/README.md')
    expect(examples.filter((name) => !page?.text.includes(`(${name})`))).toEqual([])
  })

  it('begin with the program of the README', () => {
    const [program] = readFileSync(join(FOLDER, 'first-program.ts'), 'utf8').split('\n\n// Output:')
    const readme = allPages().find(({ path }) => path === 'README.md')
    expect(readme?.blocks.find(({ language }) => language === 'ts')?.content).toBe(`${program}\n`)
  })
})
