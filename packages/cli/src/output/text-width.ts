/** Columns of a terminal that a text takes: none for colours and joining marks, two for East Asian characters and emoji. */
export function textWidth(text: string): number {
  let width = 0
  for (const { segment } of graphemes.segment(withoutColours(text))) width += WIDE.test(segment) ? 2 : 1
  return width
}

/** The text in at most so many columns, with an ellipsis where something was cut off. Not for coloured text. */
export function cutToWidth(text: string, most: number): string {
  if (textWidth(text) <= most) return text
  let cut = ''
  let width = 1
  for (const { segment } of graphemes.segment(text)) {
    width += textWidth(segment)
    if (width > most) break
    cut += segment
  }
  return `${cut}…`
}

const graphemes = new Intl.Segmenter()

const WIDE = /\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[！-｠]/u

function withoutColours(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what a colour begins with
  return text.replaceAll(/\u001b\[[\d;]*m/g, '')
}
