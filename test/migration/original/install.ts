import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from 'pg'

const SQL = readFileSync(join(import.meta.dirname, 'pg_tasks.sql'), 'utf8')

/** Older versions had no column canceled and no trace_id. */
export type OriginalVersion = 'newer' | 'older'

export interface Original {
  /** The folder of the extension's files, for the test to remove. */
  readonly folder?: string
}

/** Installs the imitation by running its script, as most do. */
export async function installScript(client: Client, version: OriginalVersion): Promise<Original> {
  await client.query(`create schema tasks; ${scriptOf(version)}`)
  return {}
}

/** Installs it by CREATE EXTENSION, so that its objects belong to the extension. From PostgreSQL 18 on: earlier ones look for extensions in their own folder only. */
export async function installExtension(client: Client, version: OriginalVersion): Promise<Original> {
  const folder = mkdtempSync(join(tmpdir(), 'pg-tasks-extension-'))
  const extensions = join(folder, 'extension')
  mkdirSync(extensions)
  // The server may run as another user.
  chmodSync(folder, 0o755)
  writeFileSync(join(extensions, 'pg_tasks.control'), `default_version = '1.0'\nrelocatable = false\n`)
  writeFileSync(join(extensions, 'pg_tasks--1.0.sql'), `create schema tasks;\n${scriptOf(version)}`)
  await client.query(`set extension_control_path = '${folder}:$system'`)
  await client.query('create extension pg_tasks')
  return { folder }
}

function scriptOf(version: OriginalVersion): string {
  if (version === 'newer') return SQL
  return SQL.replace(/^ +(canceled|trace_id) .*\n/gm, '')
}
