import { UsageError } from '../cli-error.js'

/** The names in a CSV's first line, and all that was read to find them. */
export interface CsvHead {
  readonly columns: readonly string[]
  readonly read: readonly Buffer[]
}

/** Longest first line in bytes: beyond it, a quote isn't closed, or it is no CSV. */
const LONGEST = 2 ** 20

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/** Reads until the end of the first line; a byte order mark, which PostgreSQL would take for data, is dropped. */
export async function readHead(chunks: AsyncIterator<Buffer>): Promise<CsvHead> {
  let bytes = Buffer.alloc(0)
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
    bytes = Buffer.concat([bytes, next.value])
    if (bytes.subarray(0, LONGEST).includes(0)) {
      throw new UsageError('There is a zero byte in the first line of the CSV: it must be text in UTF-8, not UTF-16.')
    }
    if (firstLine(bytes.toString('utf8')) !== undefined) break
    if (bytes.length > LONGEST) {
      throw new UsageError("The CSV's first line, which names the columns, doesn't end: is a quote not closed?")
    }
  }
  if (bytes.subarray(0, 3).equals(BYTE_ORDER_MARK)) bytes = bytes.subarray(3)
  const text = bytes.toString('utf8')
  return { columns: namesIn(firstLine(text) ?? text), read: [bytes] }
}

/** Up to the first line break that isn't in quotes; undefined: there is none yet. */
function firstLine(text: string): string | undefined {
  let quoted = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') quoted = !quoted
    if (!quoted && (character === '\n' || character === '\r')) return text.slice(0, at)
  }
  return undefined
}

function namesIn(line: string): string[] {
  if (line === '') return []
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain ?? '').trim() : quoted.replaceAll('""', '"'),
  )
}
