/**
 * Greedy to the last `@`: an unencoded password may hold `@`, `/` and `:`, and to hide too much is the smaller harm.
 * The repetitions have limits, so that a long text takes no quadratic time; 4,000 leaves room for a cloud's access token.
 */
const POSTGRES_URL = /\b(postgres(?:ql)?:\/\/[^\s:@/?#]{0,300}):[^\s"'`]{0,4000}@/gi
const OTHER_URL = /\b([a-z][a-z0-9+.-]{0,30}:\/\/[^\s:@/?#]{0,300}):[^\s:@/?#]{0,4000}@/gi
const KEY_VALUE = /(\b(?:ssl|pg)?password\s*=\s*)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s&;,'"]+)/gi
const PROPERTY = /(\b(?:ssl)?password["']?\s*:\s*)(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')/gi

/**
 * Hides the passwords of connection strings in a text.
 *
 * Covers URLs, their query parameters, libpq's `password=…` and objects that were printed.
 */
export function redact(text: string): string {
  return text
    .replace(POSTGRES_URL, '$1:***@')
    .replace(OTHER_URL, '$1:***@')
    .replace(KEY_VALUE, '$1***')
    .replace(PROPERTY, "$1'***'")
}
