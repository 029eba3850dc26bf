import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, '..', '..', 'migrations')

/** Names a template database, so that a server which outlives a run never gives out yesterday's schema. */
export function migrationsFingerprint(): string {
  const hash = createHash('sha256')
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.sql'))
  for (const name of files.sort()) hash.update(name).update(readFileSync(join(FOLDER, name)))
  return hash.digest('hex').slice(0, 12)
}
