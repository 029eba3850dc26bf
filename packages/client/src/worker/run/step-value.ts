/**
 * What a step returned, as JSON text that PostgreSQL can store; null for nothing. Characters that it can't hold (NUL, halves
 * of surrogate pairs) become U+FFFD.
 *
 * @throws what JSON.stringify throws: for a BigInt, for a value that contains itself
 */
export function encodeStepValue(value: unknown): string | null {
  const json = JSON.stringify(value)
  if (json === undefined) return null
  // Escaped as they are by JSON.stringify, unless the backslash is itself escaped.
  return json.replaceAll(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g, '$1\\ufffd')
}

/** The value of a mark, as every attempt sees it. */
export function decodeStepValue(json: string | null): unknown {
  return json === null ? undefined : JSON.parse(json)
}
