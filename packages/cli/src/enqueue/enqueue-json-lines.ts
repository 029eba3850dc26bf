import { enqueueMany, type Queryable, type TypeDescription } from '@pg-tasks/sql'
import { CliError } from '../cli-error.js'

const ROWS_PER_STATEMENT = 1_000

type Row = Record<string, unknown>

/** Enqueues a JSON object per line; what has no value in an object gets the column's default. */
export async function enqueueJsonLines(
  connection: Queryable,
  type: TypeDescription,
  chunks: AsyncIterable<Buffer>,
): Promise<number> {
  let rows: Row[] = []
  let count = 0
  let first = 1
  const send = async (last: number): Promise<void> => {
    try {
      await enqueueMany(connection, type, rows)
    } catch (error) {
      const where = first === last ? `Line ${last}` : `Lines ${first} to ${last}`
      throw new CliError(`${where}: ${(error as Error).message}`, { cause: error, hint: 'Nothing was enqueued.' })
    }
    count += rows.length
    rows = []
    first = last + 1
  }
  let number = 0
  for await (const line of linesOf(chunks)) {
    number += 1
    if (line.trim() === '') continue
    rows.push(parse(line, number))
    if (rows.length === ROWS_PER_STATEMENT) await send(number)
  }
  if (rows.length > 0) await send(number)
  return count
}

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}

function parse(line: string, number: number): Row {
  try {
    const row: unknown = JSON.parse(line)
    if (typeof row === 'object' && row !== null && !Array.isArray(row)) return row as Row
  } catch {
    // Told below.
  }
  throw new CliError(`Line ${number} is no JSON object.`, { hint: 'Nothing was enqueued.' })
}
