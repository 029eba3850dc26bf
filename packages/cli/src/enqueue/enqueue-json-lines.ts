import { enqueueMany, type Queryable, type TypeDescription } from '@pg-tasks/sql'
import { CliError } from '../cli-error.js'
import { isUnreachable } from '../connection/is-unreachable.js'
import { inexactNumber } from './inexact-number.js'
import { linesOf } from './lines-of.js'

const ROWS_PER_STATEMENT = 1_000
/** In characters: a statement has its rows in one text. */
const LONGEST_STATEMENT = 2 ** 24

type Row = Record<string, unknown>

/** Enqueues a JSON object per line; what has no value in an object gets the column's default. */
export async function enqueueJsonLines(
  connection: Queryable,
  type: TypeDescription,
  chunks: AsyncIterable<Buffer>,
): Promise<number> {
  let rows: Row[] = []
  let length = 0
  let count = 0
  let first = 1
  const send = async (last: number): Promise<void> => {
    try {
      await enqueueMany(connection, type, rows)
    } catch (error) {
      if (isUnreachable(error)) throw error
      const where = first === last ? `Line ${last}` : `Lines ${first} to ${last}`
      throw new CliError(`${where}: ${(error as Error).message}`, { cause: error, hint: 'Nothing was enqueued.' })
    }
    count += rows.length
    rows = []
    length = 0
    first = last + 1
  }
  let number = 0
  for await (const line of linesOf(chunks)) {
    number += 1
    if (line.trim() === '') continue
    rows.push(parse(line, number))
    length += line.length
    if (rows.length === ROWS_PER_STATEMENT || length > LONGEST_STATEMENT) await send(number)
  }
  if (rows.length > 0) await send(number)
  return count
}

function parse(line: string, number: number): Row {
  let row: unknown
  try {
    row = JSON.parse(line)
  } catch {
    // Told below.
  }
  if (typeof row !== 'object' || row === null || Array.isArray(row))
    throw new CliError(`Line ${number} is no JSON object.`, { hint: 'Nothing was enqueued.' })
  const inexact = inexactNumber(line)
  if (inexact === undefined) return row as Row
  throw new CliError(`Line ${number}: ${inexact} has more digits than a number of JavaScript's keeps.`, {
    hint: `Nothing was enqueued. Write it as a text, "${inexact}", or the rows as CSV, which goes to PostgreSQL as it is.`,
  })
}
