import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { copyFromCsv, type TypeDescription } from '@pg-tasks/sql'
import type { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { UsageError } from '../cli-error.js'
import { readHead } from './read-head.js'

/** Sends a CSV file as it is: PostgreSQL reads it (quotes, an empty field is NULL) and says in which line it can't. */
export async function enqueueCsv(
  client: Client,
  type: TypeDescription,
  chunks: AsyncIterable<Buffer>,
): Promise<number> {
  const iterator = chunks[Symbol.asyncIterator]()
  const { columns, read } = await readHead(iterator)
  const wrong = columns.find((column) => column === '')
  if (columns.length === 0 || wrong !== undefined) {
    throw new UsageError("The CSV's first line must name the columns.")
  }
  const copy = client.query(copyFrom(copyFromCsv(type, columns)))
  await pipeline(Readable.from(all(read, iterator)), copy)
  return copy.rowCount
}

async function* all(first: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* first
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
}
