/** A statement of a SQL block, and what its comments say that comes of it. */
export interface Statement {
  readonly sql: string
  /** The line of the block that it begins at, from 0. */
  readonly line: number
  /** Its rows, as `-- → a | b` after the statement tells them; undefined: not told. */
  readonly rows: readonly string[] | undefined
  /** The SQLSTATE of its failure, as `-- → error TQ001` tells it. */
  readonly error: string | undefined
}

/** On the statement's own line or the ones right below it. */
const TOLD = /^[ \t]*\n?[ \t]*-- → ?(.*)/

/** Splits a block at the semicolons that end a statement, so that each is a transaction of its own, as in psql. */
export function statementsOf(block: string): readonly Statement[] {
  const statements: Statement[] = []
  let rest = block
  let line = 0
  for (;;) {
    const skipped = /^(\s|--[^\n]*(\n|$))*/.exec(rest)?.[0] ?? ''
    line += lines(skipped)
    rest = rest.slice(skipped.length)
    if (rest === '') return statements
    const length = statementLength(rest)
    const sql = rest.slice(0, length)
    const begin = line
    line += lines(sql)
    rest = rest.slice(length)

    const told: string[] = []
    for (let match = TOLD.exec(rest); match !== null; match = TOLD.exec(rest)) {
      told.push((match[1] ?? '').trim())
      rest = rest.slice(match[0].length)
      line += lines(match[0])
    }
    const error = /^error (\w{5})$/.exec(told[0] ?? '')?.[1]
    const nothing = told.length === 0 || error !== undefined
    statements.push({ sql, line: begin, rows: nothing ? undefined : told.filter((row) => row !== 'no rows'), error })
  }
}

/** Up to and with the semicolon that is in no string, quoted name, dollar quote or comment. */
function statementLength(text: string): number {
  const token = /'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1|--[^\n]*|\/\*[\s\S]*?\*\/|;/g
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    if (match[0] === ';') return token.lastIndex
  }
  throw new Error(`A statement does not end with a semicolon: ${text.slice(0, 60)}`)
}

function lines(text: string): number {
  return text.split('\n').length - 1
}
