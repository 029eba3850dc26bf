import { createWriteStream, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type CopiedTable, copyOut, dumpPlan, inOneSnapshot } from '@pg-tasks/sql'
import type { Client } from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { CliError } from '../cli-error.js'
import { startProgress } from '../output/progress.js'
import { MANIFEST, type Manifest } from './manifest.js'

export interface WriteBackup {
  readonly folder: string
  /** Whether it may leave things out. */
  readonly partial: boolean
  readonly progress: boolean
}

/**
 * Writes all of a database into a folder, as it is at one moment. The folder appears when it is complete.
 *
 * @throws CliError if the folder is there, or something in the database can't be carried over and `partial` is off
 */
export async function writeBackup(client: Client, options: WriteBackup): Promise<Manifest> {
  const { folder, partial } = options
  if (existsSync(folder) && readdirSync(folder).length > 0) throw new CliError(`${folder} is there and not empty.`)
  const draft = `${folder}.${process.pid}.partial`
  mkdirSync(dirname(folder), { recursive: true })
  mkdirSync(draft, { recursive: true, mode: 0o700 })
  try {
    const manifest = await inOneSnapshot(client, async (): Promise<Manifest> => {
      const plan = await dumpPlan(client)
      if (plan.omitted.length > 0 && !partial) throw cannotCarry(plan.omitted)
      const tables = await writeTables(client, plan.tables, draft, options)
      return { format: 1, createdAt: new Date().toISOString(), ...plan, tables }
    })
    writeFileSync(join(draft, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`)
    rmSync(folder, { recursive: true, force: true })
    renameSync(draft, folder)
    return manifest
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    throw error
  }
}

async function writeTables(
  client: Client,
  tables: readonly CopiedTable[],
  draft: string,
  { progress: shown }: WriteBackup,
): Promise<Manifest['tables']> {
  const progress = startProgress({ title: 'backup', total: tables.length, unit: (count) => `${count} tables`, shown })
  const written: Array<Manifest['tables'][number]> = []
  try {
    for (const [index, table] of tables.entries()) {
      const file = `${String(index + 1).padStart(4, '0')}.copy`
      const copy = client.query(copyTo(copyOut(table)))
      await pipeline(copy, createWriteStream(join(draft, file), { mode: 0o600 }))
      written.push({ ...table, file, rows: copy.rowCount })
      progress.update(index + 1)
    }
  } finally {
    progress.end()
  }
  return written
}

function cannotCarry(omitted: readonly string[]): CliError {
  return new CliError(`This backup would leave out:\n${omitted.map((what) => `  ${what}`).join('\n')}`, {
    hint: "--partial leaves them out. All of a database is kept by PostgreSQL's own pg_dump of the server's version or a later one.",
  })
}
