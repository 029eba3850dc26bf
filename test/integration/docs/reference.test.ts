import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCodes } from '@pg-tasks/client'
import { EMBEDDED_ERROR_CODES } from '@pg-tasks/embedded'
import { SQL_ERROR_CODES } from '@pg-tasks/sql'
import { describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { allPages, ROOT } from './pages.js'

/** The codes in the first column of the tables under a heading. */
function listed(heading: string): readonly string[] {
  const text = allPages().find((page) => page.path === 'docs/reference/errors.md')?.text ?? ''
  const [, section = ''] = text.split(`\n## ${heading}\n`)
  const [rows = ''] = section.split('\n## ')
  return [...rows.matchAll(/^\| `([A-Z0-9_]+)`/gm)].map(([, code]) => code ?? '').sort()
}

function raised(): readonly string[] {
  const migrations = join(ROOT, 'migrations')
  const sql = readdirSync(migrations).map((name) => readFileSync(join(migrations, name), 'utf8'))
  const codes = sql.flatMap((text) =>
    [...text.matchAll(/\b(?:refuse\(|errcode = )'(TQ\w{3})'/g)].map(([, code]) => code ?? ''),
  )
  return [...new Set(codes)].sort()
}

describe('the reference', () => {
  it('lists each code of client and sql and no other', () => {
    const codes = new Set([...errorCodes, ...Object.keys(SQL_ERROR_CODES)])
    expect(listed('Codes of the packages')).toEqual([...codes].sort())
  })

  it('lists each SQLSTATE that a migration raises and no other', () => {
    expect(raised().length).toBeGreaterThan(5)
    expect(listed('SQLSTATEs')).toEqual(raised())
  })

  it('lists each code of the embedded server and no other', () => {
    expect(listed('Codes of the embedded server')).toEqual(Object.keys(EMBEDDED_ERROR_CODES).sort())
  })

  it('has its generated sections as the code makes them: npm run docs', { timeout: 60_000 }, async () => {
    const { url } = await createDatabase({ migrations: false })
    const options = ['--conditions=@pg-tasks/source', '--import', 'tsx', 'scripts/generate-docs.js', '--check']
    const check = spawn(process.execPath, options, { cwd: ROOT, env: { ...process.env, DATABASE_URL: url } })
    let output = ''
    for (const stream of [check.stdout, check.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
    const [code] = await once(check, 'close')
    expect(output).toBe('The generated sections are current.\n')
    expect(code).toBe(0)
  })
})
