import type { Client } from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { type Page, taughtPages } from './pages.js'
import { type Statement, statementsOf } from './statements.js'

const pages = taughtPages().filter((page) => page.blocks.some((block) => block.language === 'sql'))

/** Runs the blocks of a page in order, on a database of its own and in one session. Returns what does not hold. */
async function run(page: Page, client: Client): Promise<readonly string[]> {
  const problems: string[] = []
  for (const block of page.blocks) {
    if (block.language !== 'sql') continue
    for (const statement of statementsOf(block.content)) {
      const problem = await problemOf(statement, client)
      if (problem !== undefined) problems.push(`${page.path}:${block.line + statement.line}: ${problem}`)
    }
  }
  return problems
}

async function problemOf({ sql, rows, error }: Statement, client: Client): Promise<string | undefined> {
  try {
    const result = await client.query<unknown[]>({ text: sql, rowMode: 'array' })
    if (error !== undefined) return `${sql}\ndid not fail with ${error}`
    const got = result.rows.map((row) => row.map(textOf).join(' | ').trim())
    if (rows === undefined || JSON.stringify(got) === JSON.stringify(rows)) return undefined
    return `${sql}\ngave\n${got.join('\n')}\nand the page says\n${rows.join('\n')}`
  } catch (failure) {
    const { code, message } = failure as Error & { readonly code?: string }
    if (error !== undefined && code === error) return undefined
    return `${sql}\nfailed with ${code}: ${message}`
  }
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

describe('the SQL of the documentation', () => {
  const databases = new Map<string, TestDatabase>()

  beforeAll(async () => {
    for (const page of pages) databases.set(page.path, await createDatabase())
  })

  it.each(pages.map((page) => [page.path, page] as const))('runs and gives what is said: %s', async (path, page) => {
    const database = databases.get(path) as TestDatabase
    expect(await run(page, await database.client())).toEqual([])
  })

  it('would be found wrong', async () => {
    const blocks = [
      {
        language: 'sql',
        line: 10,
        content: "select 1;  -- → 1\nselect 'a;b', null;\n-- → a;b |\n\nselect 2;\n-- → 3\n-- → 4\n",
      },
      {
        language: 'sql',
        line: 20,
        content: 'select 1 / 0;  -- → error 22012\nselect 1;  -- → error 22012\nselect nonsense;\n',
      },
    ]
    const client = await (databases.values().next().value as TestDatabase).client()
    const problems = await run({ path: 'page.md', text: '', blocks }, client)
    expect(problems).toEqual([
      'page.md:14: select 2;\ngave\n2\nand the page says\n3\n4',
      'page.md:21: select 1;\ndid not fail with 22012',
      'page.md:22: select nonsense;\nfailed with 42703: column "nonsense" does not exist',
    ])
  })
})
