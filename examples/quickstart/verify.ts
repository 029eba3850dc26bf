import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Pool } from 'pg'
import type { Folders } from './compress-file.js'

/** Files that are compared at the same time. */
const AT_ONCE = 8

interface Recorded {
  readonly path: string
  readonly records: number
  readonly bytes: string
  readonly sha256: string
}

/** Unpacks every copy and compares it, and what was recorded of it, with the original. Returns what is wrong. */
export async function verify(pool: Pool, files: readonly string[], folders: Folders): Promise<readonly string[]> {
  const { rows } = await pool.query<Recorded>(
    `select path, count(*)::integer as records, min(bytes)::text as bytes, min(sha256) as sha256
     from public.copies group by path`,
  )
  const recorded = new Map(rows.map((row) => [row.path, row]))
  const failures = await failuresOf(pool)
  const unknown = rows
    .filter((row) => !files.includes(row.path))
    .map((row) => `${row.path}: recorded, but never asked for`)
  const problems = await mapAtOnce(files, (file) => problemOf(file, recorded.get(file), failures.get(file), folders))
  return [...unknown, ...problems.filter((problem) => problem !== undefined)]
}

/** The errors of the tasks whose executions are used up, without their stacks. */
async function failuresOf(pool: Pool): Promise<ReadonlyMap<string, string>> {
  const { rows } = await pool.query<{ path: string; error: string }>(
    `select path, split_part(last_error, chr(10), 1) as error from tasks.compress_file where failed_at is not null`,
  )
  return new Map(rows.map(({ path, error }) => [path, error]))
}

async function problemOf(
  file: string,
  record: Recorded | undefined,
  failure: string | undefined,
  folders: Folders,
): Promise<string | undefined> {
  if (record === undefined) return `${file}: not recorded${failure === undefined ? '' : `: ${failure}`}`
  if (record.records !== 1) return `${file}: recorded ${record.records} times`
  try {
    const [original, copy] = await Promise.all([
      digest(join(folders.source, file)),
      digest(join(folders.copies, `${file}.gz`), true),
    ])
    if (copy.sha256 !== original.sha256)
      return `${file}: the copy differs from the original (was it changed meanwhile?)`
    if (record.sha256 !== original.sha256 || record.bytes !== String(original.bytes)) {
      return `${file}: what was recorded differs from the original`
    }
    return undefined
  } catch (error) {
    return `${file}: ${(error as Error).message}`
  }
}

async function digest(path: string, compressed = false): Promise<{ readonly sha256: string; readonly bytes: number }> {
  const hash = createHash('sha256')
  let bytes = 0
  const measure = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      hash.update(chunk)
      bytes += chunk.length
    }
  }
  if (compressed) await pipeline(createReadStream(path), createGunzip(), measure)
  else await pipeline(createReadStream(path), measure)
  return { sha256: hash.digest('hex'), bytes }
}

async function mapAtOnce<Item, Value>(items: readonly Item[], map: (item: Item) => Promise<Value>): Promise<Value[]> {
  const values: Value[] = []
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < items.length) {
      const index = next
      next += 1
      values[index] = await map(items[index] as Item)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  return values
}
