import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { copyIn, emptyTable, inShortTransaction, migrate } from '@pg-tasks/sql'
import type { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { CliError } from '../cli-error.js'
import { startProgress } from '../output/progress.js'
import { type Manifest, readManifest } from './manifest.js'

/** Puts a backup into a database, in one transaction after the migrations: all of it, or nothing. */
export async function readBackup(
  client: Client,
  { folder, progress: shown }: { readonly folder: string; readonly progress: boolean },
): Promise<Manifest> {
  const manifest = readManifest(folder)
  await migrate(client)
  const { tables, before, after } = manifest
  const progress = startProgress({ title: 'restore', total: tables.length, unit: (count) => `${count} tables`, shown })
  try {
    await inShortTransaction(client, async () => {
      for (const statement of before) await run(client, statement)
      for (const [index, table] of tables.entries()) {
        if (table.ours) await run(client, emptyTable(table))
        await pipeline(createReadStream(join(folder, table.file)), client.query(copyFrom(copyIn(table))))
        progress.update(index + 1)
      }
      for (const statement of after) await run(client, statement)
    })
  } finally {
    progress.end()
  }
  return manifest
}

async function run(client: Client, statement: string): Promise<void> {
  try {
    await client.query(statement)
  } catch (error) {
    throw new CliError(`${(error as Error).message}, at: ${statement.slice(0, 200)}`, {
      cause: error,
      hint: 'Nothing was restored; give a database that is empty but for the schema tasks.',
    })
  }
}
