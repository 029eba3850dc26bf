/** The share of a text that is too long which is kept from its beginning; the rest is kept from its end. */
const HEAD = 0.7

/** The longest piece of a text that is looked at: work stays small however much was thrown. */
const LONGEST_LOOK = 64 * 1024

/** Cuts out the middle of a text that is far too long, before anything costly is done with it. */
export function cutMiddle(text: string, maxLength: number = LONGEST_LOOK): string {
  if (text.length <= maxLength) return text
  const head = Math.ceil(maxLength * HEAD)
  const tail = maxLength - head
  return `${text.slice(0, head)}\n… ${text.length - maxLength} characters left out …\n${tail > 0 ? text.slice(-tail) : ''}`
}

/**
 * Makes a text that PostgreSQL takes: no NUL, no half of a surrogate pair, at most `maxBytes` of UTF-8. What is too long loses
 * its middle, so that both the message and the last frames or causes stay.
 */
export function boundedText(text: string, maxBytes: number): string {
  const clean = wellFormed(cutMiddle(text).replaceAll('\u0000', '\uFFFD'))
  let keep = maxBytes
  while (keep > 0) {
    const cut = wellFormed(cutMiddle(clean, keep))
    const surplus = Buffer.byteLength(cut) - maxBytes
    if (surplus <= 0) return cut
    // A unit has at most three bytes, so at least a third of the surplus has to go.
    keep -= Math.ceil(surplus / 3)
  }
  return ''
}

function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD')
}
