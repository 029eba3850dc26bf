import { styleText } from 'node:util'

type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan' | 'magenta'

/** Colours a text, or leaves it as it is. */
export type Painter = { readonly [Name in Style]: (text: string) => string }

const STYLES: readonly Style[] = ['bold', 'dim', 'red', 'yellow', 'green', 'cyan', 'magenta']

/** Colours for a terminal, unless NO_COLOR says no; FORCE_COLOR says yes to anything. See https://no-color.org. */
export function painter(stream: { readonly isTTY?: boolean }): Painter {
  const coloured = hasColour(stream)
  const paint = (style: Style) => (text: string) => (coloured && text !== '' ? styleText(style, text) : text)
  return Object.fromEntries(STYLES.map((style) => [style, paint(style)])) as Painter
}

function hasColour(stream: { readonly isTTY?: boolean }): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0'
  return stream.isTTY === true && TERM !== 'dumb'
}
