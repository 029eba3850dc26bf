import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { start } from '@pg-tasks/embedded'
import { migrate } from '@pg-tasks/sql'
import pg from 'pg'
import { cliSection } from './generate-docs/cli-section.js'
import { sqlSection } from './generate-docs/sql-section.js'
import { typescriptSection } from './generate-docs/typescript-section.js'

/**
 * Fills the sections of docs/ that are made from the code: `npm run docs`; with `--check` it only tells whether they are
 * current. Between `<!-- generated: what … -->` and `<!-- end of generated -->` stands what is made; all else is left alone.
 * The database is that of `DATABASE_URL` (empty), or one of its own.
 */
const ROOT = join(import.meta.dirname, '..')
const SECTION = /(<!-- generated: (.+?) -->\n)[\s\S]*?(<!-- end of generated -->)/g

const check = process.argv.includes('--check')

async function main(connectionString) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    await migrate(client)
    await client.query(`
      create table tasks.do_something (like tasks.template including defaults including identity including indexes);
      select tasks.register('tasks', 'do_something');`)
    const stale = []
    for (const page of pages()) {
      const before = readFileSync(page, 'utf8')
      const after = await filled(before, client)
      if (after === before) continue
      stale.push(relative(ROOT, page))
      if (!check) writeFileSync(page, after)
    }
    return stale
  } finally {
    await client.end()
  }
}

function pages() {
  const docs = join(ROOT, 'docs')
  return readdirSync(docs, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(docs, name))
}

async function filled(text, client) {
  let result = text
  for (const [section, begin, what, end] of text.matchAll(SECTION)) {
    const [kind, ...words] = what.split(' ')
    const made = await sectionOf(client, kind, ...words)
    result = result.replace(section, () => `${begin}\n${made}\n\n${end}`)
  }
  return result
}

async function sectionOf(client, kind, ...words) {
  if (kind === 'cli') return cliSection(...words)
  if (['interface', 'events', 'fields'].includes(kind)) return typescriptSection(ROOT, kind, ...words)
  return sqlSection(client, kind, ...words)
}

async function withDatabase(work) {
  if (process.env.DATABASE_URL) return work(process.env.DATABASE_URL)
  const folder = await mkdtemp(join(tmpdir(), 'pg-tasks-docs-'))
  const server = await start(join(folder, 'postgres'))
  try {
    return await work(server.url)
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

const stale = await withDatabase(main)
if (stale.length === 0) {
  process.stdout.write('The generated sections are current.\n')
} else if (check) {
  process.stdout.write(`Not current: ${stale.join(', ')}. Run: npm run docs\n`)
  process.exitCode = 1
} else {
  process.stdout.write(`Written: ${stale.join(', ')}\n`)
}
