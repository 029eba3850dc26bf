import { describe, expect, it } from 'vitest'
import { formatDuration, formatValue } from './format.js'
import { painter } from './painter.js'
import { table } from './table.js'
import { cutToWidth, textWidth } from './text-width.js'
import { wrap } from './wrap.js'

describe('textWidth', () => {
  it.each([
    ['plain', 5],
    ['日本', 4],
    ['e\u0301', 1],
    ['👩‍🚀', 2],
    ['\u001b[31mred\u001b[39m', 3],
  ])('%j', (text, width) => {
    expect(textWidth(text)).toBe(width)
  })

  it('is kept by what is cut', () => {
    expect(cutToWidth('日本語', 5)).toBe('日本…')
    expect(cutToWidth('fits', 4)).toBe('fits')
  })
})

it('wrap breaks between words and leaves long ones whole', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three'])
  expect(wrap('a postgres://whole b', 6)).toEqual(['a', 'postgres://whole', 'b'])
})

it('a table is aligned, on one line per row, and fits by cutting what may be cut', () => {
  const paint = painter({ isTTY: false })
  const columns = [
    { name: 'N', value: (row: readonly string[]) => row[0] ?? '', align: 'right' as const },
    { name: 'TEXT', value: (row: readonly string[]) => row[1] ?? '', flexible: true },
  ]
  const rows = [
    ['1', 'short'],
    ['22', 'a text\nthat goes on'],
  ]
  expect(table(rows, columns, { paint })).toBe(' N  TEXT\n 1  short\n22  a text that goes on\n')
  expect(table(rows, columns, { paint, width: 14 })).toBe(' N  TEXT\n 1  short\n22  a text th…\n')
})

it.each([
  [0, '0 ms'],
  [1_500, '1.5 s'],
  [59_999, '1 m'],
  [200_000, '3 m 20 s'],
  [93_600_000, '1 d 2 h'],
])('formatDuration(%d)', (ms, text) => {
  expect(formatDuration(ms)).toBe(text)
})

it('formatValue shows any column on one line', () => {
  expect([null, 7, true, { a: [1] }, new Uint8Array([1, 255])].map(formatValue)).toEqual([
    '',
    '7',
    'true',
    '{"a":[1]}',
    '\\x01ff',
  ])
})
