import { createReadStream, statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { inShortTransaction, type TypeDescription } from '@pg-tasks/sql'
import type { Client } from 'pg'
import { UsageError } from '../cli-error.js'
import { formatBytes } from '../output/format.js'
import { type Progress, startProgress } from '../output/progress.js'
import { enqueueCsv } from './enqueue-csv.js'
import { enqueueJsonLines } from './enqueue-json-lines.js'

export type FileFormat = 'csv' | 'jsonl'

/** A file of rows, and how they are written in it. */
export interface RowFile {
  /** `-` is standard input. */
  readonly file: string
  readonly format: FileFormat
  /** Whether a progress bar is shown. */
  readonly progress: boolean
}

/** The format that a file's name tells. @throws UsageError if it tells none */
export function formatOf(file: string): FileFormat {
  if (/\.csv$/i.test(file)) return 'csv'
  if (/\.(jsonl|ndjson)$/i.test(file)) return 'jsonl'
  throw new UsageError(`What is in ${file === '-' ? 'standard input' : file}? Say --format csv or --format jsonl.`)
}

/** Enqueues the rows of a file in one transaction: all of them, or none. Returns how many. */
export async function enqueueFile(client: Client, type: TypeDescription, source: RowFile): Promise<number> {
  const { stream, bytes } = open(source.file)
  const progress = startProgress({ title: 'enqueue', total: bytes, unit: formatBytes, shown: source.progress })
  const watched = watch(stream, progress)
  // Else a pipe that says nothing would be waited for.
  const onLost = (): void => {
    stream.destroy(Object.assign(new Error('The connection to the database was lost.'), { code: '08006' }))
  }
  client.once('end', onLost)
  try {
    return await inShortTransaction(client, () =>
      source.format === 'csv' ? enqueueCsv(client, type, watched) : enqueueJsonLines(client, type, watched),
    )
  } finally {
    client.off('end', onLost)
    progress.end()
    stream.destroy()
  }
}

function open(file: string): { readonly stream: Readable; readonly bytes: number | undefined } {
  if (file === '-') return { stream: process.stdin, bytes: undefined }
  const there = statSync(file, { throwIfNoEntry: false })
  if (there === undefined) throw new UsageError(`There is no file ${file}.`)
  if (there.isDirectory()) throw new UsageError(`${file} is a folder.`)
  return { stream: createReadStream(file), bytes: there.isFile() ? there.size : undefined }
}

async function* watch(stream: Readable, progress: Progress): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    yield chunk
    bytes += chunk.length
    progress.update(bytes)
  }
}
