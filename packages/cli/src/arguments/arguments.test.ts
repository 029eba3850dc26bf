import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { normalizeArguments } from './normalize-arguments.js'
import { parseAssignments, parseInstant, parseInteger } from './parse-arguments.js'
import { parseDuration } from './parse-duration.js'
import { parseTypeName } from './parse-type-name.js'

describe('normalizeArguments', () => {
  it.each([
    [
      ['list', '--embedded', 'send_invoice'],
      ['list', '--embedded=', 'send_invoice'],
    ],
    [
      ['worker', '--embedded', 'src/tasks.ts'],
      ['worker', '--embedded=', 'src/tasks.ts'],
    ],
    [
      ['worker', '--embedded', '.data/postgres', 'a.js'],
      ['worker', '--embedded=.data/postgres', 'a.js'],
    ],
    [
      ['stats', '--embedded', '--json'],
      ['stats', '--embedded=', '--json'],
    ],
    [
      ['stats', '--embedded=x'],
      ['stats', '--embedded=x'],
    ],
    [
      ['enqueue', 't', '--', '--embedded', 'a/b'],
      ['enqueue', 't', '--', '--embedded', 'a/b'],
    ],
  ])('%j', (given, normalized) => {
    expect(normalizeArguments(given)).toEqual(normalized)
  })

  it('takes a word for the directory that is one', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pg-tasks-test-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    expect(normalizeArguments(['stats', '--embedded', folder])).toEqual(['stats', `--embedded=${folder}`])
  })
})

describe('parseDuration', () => {
  it.each([
    ['90s', 90_000],
    ['1h 30m', 5_400_000],
    ['1h30m', 5_400_000],
    ['2 days', 172_800_000],
    ['1.5 min', 90_000],
    ['250ms', 250],
    ['0s', 0],
  ])('%s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each(['', '5', 'm', '5 parsecs', '-5m', '5m x'])('refuses "%s"', (text) => {
    expect(() => parseDuration(text)).toThrow('is no duration')
  })
})

describe('parseTypeName', () => {
  it.each([
    ['mail', undefined, 'mail'],
    ['shop.mail', 'shop', 'mail'],
    ['"My shop"."it\'s ""so"""', 'My shop', 'it\'s "so"'],
    ['shop.a.b', 'shop', 'a.b'],
  ])('%s', (text, schema, table) => {
    expect(parseTypeName(text)).toEqual({ schema, table })
  })

  it.each(['', '.mail', 'shop.'])('refuses "%s"', (text) => {
    expect(() => parseTypeName(text)).toThrow('no name of a task type')
  })
})

it('parseAssignments keeps what stands behind the first =', () => {
  expect(parseAssignments(['a=b=c', 'd=', 'e={"f": 1}'])).toEqual({ a: 'b=c', d: '', e: '{"f": 1}' })
  expect(() => parseAssignments(['a=1', 'a=2'])).toThrow('twice')
  expect(() => parseAssignments(['=1'])).toThrow('no column=value')
})

describe('parseInstant', () => {
  it.each([
    ['2026-03-01T09:00Z', new Date('2026-03-01T09:00:00Z')],
    ['2026-03-01 09:00:01.5+02:00', new Date('2026-03-01T07:00:01.500Z')],
    ['2026-03-01T09:00', new Date(2026, 2, 1, 9)],
    ['2026-03-01', new Date(2026, 2, 1)],
    ['2028-02-29', new Date(2028, 1, 29)],
  ])('takes %s', (text, instant) => {
    expect(parseInstant(text)).toEqual(instant)
  })

  it.each([
    '',
    '5',
    'tomorrow',
    '2026-02-30',
    '2026-02-29T10:00Z',
    '2026-13-01',
    '2026-00-01',
    '2026-01-00',
    '2026-1-1',
    '2026-01-01T25:00',
  ])('refuses %j', (text) => {
    expect(() => parseInstant(text)).toThrow('is no time')
  })
})

describe('parseInteger', () => {
  it.each(['', ' ', '0x2', '1e0', '1.0', '--1'])('refuses %j', (text) => {
    expect(() => parseInteger(0, 3)(text)).toThrow('is no whole number')
  })
})
