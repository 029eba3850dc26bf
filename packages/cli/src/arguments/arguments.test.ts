import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { normalizeArguments } from './normalize-arguments.js'
import { parseAssignments } from './parse-arguments.js'
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
