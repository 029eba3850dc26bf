/** Texts are passed by, so that digits in them don't count. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** The first number in valid JSON that is another one as a number of JavaScript's; undefined: all are exact. */
export function inexactNumber(json: string): string | undefined {
  // Up to 15 digits are kept; most lines have no longer number.
  if (!/[\d.]{16}|\d[eE][+-]?\d/.test(json)) return undefined
  for (const [token] of json.matchAll(TOKEN)) {
    if (token.startsWith('"')) continue
    if (written(token) !== written(String(Number(token)))) return token
  }
  return undefined
}

/** Significant digits and exponent, the same for all ways to write a number. */
function written(number: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? []
  const digits = whole + fraction
  const significant = digits.replace(/^0+/, '').replace(/0+$/, '')
  const dropped = digits.length - digits.replace(/0+$/, '').length
  return significant === '' ? '0' : `${significant}e${Number(exponent) - fraction.length + dropped}`
}
