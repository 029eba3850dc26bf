import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CopiedTable } from '@pg-tasks/sql'
import { CliError } from '../cli-error.js'

/** What a backup holds; the rows stand beside it, a file per table. */
export interface Manifest {
  readonly format: 1
  readonly createdAt: string
  /** Version of the server that it was made of. */
  readonly server: string
  readonly before: readonly string[]
  readonly tables: ReadonlyArray<CopiedTable & { readonly file: string; readonly rows: number }>
  readonly after: readonly string[]
  /** What was there and is not in it. */
  readonly omitted: readonly string[]
}

export const MANIFEST = 'manifest.json'

/** Reads the manifest of a backup's folder. @throws CliError if it holds none that this version can read */
export function readManifest(folder: string): Manifest {
  let text: string
  try {
    text = readFileSync(join(folder, MANIFEST), 'utf8')
  } catch (cause) {
    throw new CliError(`There is no backup in ${folder}.`, { cause })
  }
  const manifest = JSON.parse(text) as Manifest
  if (manifest.format === 1) return manifest
  throw new CliError(`The backup in ${folder} was made by a later version of pg-tasks.`)
}
