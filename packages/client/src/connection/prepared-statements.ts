/** Most statements of one connection; the next ones go unprepared. */
const MOST = 200

const CALLED = /\btasks\."?(\w{1,50})/

/**
 * SQLSTATEs of a statement that has to be parsed anew: its result has other columns since the table was altered, or somebody
 * deallocated it. What it did is undone.
 */
const OUTDATED = /^(0A000|26000|42804)$/

/** Names of the statements that one connection has prepared: the server parses and plans them once. */
export class PreparedStatements {
  readonly #names = new Map<string, string>()
  #made = 0

  /** The statement's name; undefined if it should not be prepared. */
  nameOf(text: string): string | undefined {
    const known = this.#names.get(text)
    if (known !== undefined || this.#names.size >= MOST) return known
    this.#made += 1
    // Named after the function that it calls, for those who read pg_prepared_statements; a name may have 63 bytes.
    const name = `${CALLED.exec(text)?.[1] ?? 'statement'}_${this.#made}`
    this.#names.set(text, name)
    return name
  }

  /** Whether this error says that the statement has to be parsed anew; its name is then never used again. */
  isOutdated(text: string, error: unknown): boolean {
    if (!OUTDATED.test(String((error as { code?: unknown } | null)?.code))) return false
    return this.#names.delete(text)
  }
}
