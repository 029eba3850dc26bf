import { createHash } from 'node:crypto'

/** A migration as its file has it. */
export interface Migration {
  readonly number: number
  /** `create_schema` of `0001_create_schema.sql`. */
  readonly name: string
  /** What it does, without the `begin` and `commit` that make the file one transaction in psql. */
  readonly body: string
  /** SHA-256 of the file, in hex. */
  readonly checksum: string
}

const FILE_NAME = /^(\d{4})_([a-z0-9_]+)\.sql$/
const BEGIN = /^begin\b[^;\n]*;$/gm
const COMMIT = /\ncommit;\s*$/

/**
 * Reads a migration. Line ends don't count for its checksum: a checkout on Windows is the same migration.
 *
 * @throws Error if it isn't one transaction in a file that is named `NNNN_verb_noun.sql`
 */
export function parseMigration(fileName: string, content: string): Migration {
  const [, number, name] = FILE_NAME.exec(fileName) ?? []
  if (number === undefined || name === undefined)
    throw new Error(`${fileName}: a migration is named NNNN_verb_noun.sql`)
  const sql = content.replaceAll('\r\n', '\n')
  if (sql.match(BEGIN)?.length !== 1 || !COMMIT.test(sql)) {
    throw new Error(`${fileName}: a migration begins once, and its last statement is commit`)
  }
  return {
    number: Number(number),
    name,
    body: sql.replace(BEGIN, '').replace(COMMIT, '\n'),
    checksum: createHash('sha256').update(sql).digest('hex'),
  }
}

/** A migration as people name it: `0001_create_schema`. */
export function titleOf({ number, name }: Pick<Migration, 'number' | 'name'>): string {
  return `${String(number).padStart(4, '0')}_${name}`
}
