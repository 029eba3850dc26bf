/** The names in a CSV's first line, and all that was read to find them. */
export interface CsvHead {
  readonly columns: readonly string[]
  readonly read: readonly Buffer[]
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/** Reads until the end of the first line; a byte order mark, which PostgreSQL would take for data, is dropped. */
export async function readHead(chunks: AsyncIterator<Buffer>): Promise<CsvHead> {
  let bytes = Buffer.alloc(0)
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
    bytes = Buffer.concat([bytes, next.value])
    if (firstLine(bytes.toString('utf8')) !== undefined) break
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
