import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

/** What was read and what was written. */
export interface Compressed {
  readonly bytes: number
  /** SHA-256 of the original, in hex. */
  readonly sha256: string
  readonly compressedBytes: number
}

/**
 * Writes a gzip copy: into `unfinished` first, which then takes the place of `target`. Whoever looks at `target` sees a whole
 * copy or none, and doing it twice leaves the same.
 */
export async function compress(
  source: string,
  target: string,
  unfinished: string,
  signal: AbortSignal,
): Promise<Compressed> {
  const hash = createHash('sha256')
  let bytes = 0
  async function* measure(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk)
      bytes += chunk.length
      yield chunk
    }
  }
  await Promise.all([target, unfinished].map((path) => mkdir(dirname(path), { recursive: true })))
  try {
    // Flushed: what the database says is there must be there after a power failure, too.
    const file = createWriteStream(unfinished, { flush: true })
    await pipeline(createReadStream(source), measure, createGzip(), file, { signal })
    await rename(unfinished, target)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
  return { bytes, sha256: hash.digest('hex'), compressedBytes: (await stat(target)).size }
}
