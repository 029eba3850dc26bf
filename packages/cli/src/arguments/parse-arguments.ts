import type { FinalState, TaskState } from '@pg-tasks/sql'
import { UsageError } from '../cli-error.js'

const STATES: readonly TaskState[] = ['scheduled', 'ready', 'running', 'finished', 'failed', 'canceled']
const FINAL_STATES: readonly FinalState[] = ['finished', 'failed', 'canceled']

/** For an option that may be given several times. */
export function collect(word: string, before: readonly string[] = []): string[] {
  return [...before, word]
}

/** A whole number within bounds. */
export function parseInteger(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN
    if (Number.isInteger(number) && number >= min && number <= max) return number
    throw new UsageError(`"${text}" is no whole number from ${min} to ${max}.`)
  }
}

const INSTANT = /^(\d{4})-(\d\d)-(\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/i

/** An instant: `2026-03-01T09:00Z`, `2026-03-01 09:00` or `2026-03-01` (local time). */
export function parseInstant(text: string): Date {
  const [, year, month, day] = INSTANT.exec(text) ?? []
  // A Date takes the 30th of February for the 2nd of March, a day without a time for one in UTC, and `5` for a month.
  if (Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()) {
    const date = new Date(text.length === 10 ? `${text}T00:00` : text)
    if (!Number.isNaN(date.getTime())) return date
  }
  throw new UsageError(`"${text}" is no time.`, 'Write 2026-03-01T09:00:00Z, or without Z for local time.')
}

/** States, separated by commas. */
export function parseStates(text: string): TaskState[] {
  return parseList(text, STATES)
}

/** States in which tasks have ended, separated by commas. */
export function parseFinalStates(text: string): FinalState[] {
  return parseList(text, FINAL_STATES)
}

/** Ids of tasks. */
export function parseIds(ids: readonly string[]): string[] {
  const wrong = ids.find((id) => !/^\d{1,19}$/.test(id))
  if (wrong !== undefined) throw new UsageError(`"${wrong}" is no id of a task: ids are whole numbers.`)
  return [...ids]
}

/** `column=value` words; `column=` is the empty text, `column` alone can't be meant. */
export function parseAssignments(words: readonly string[]): Record<string, string> {
  const columns: Record<string, string> = {}
  for (const word of words) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(word) ?? []
    if (name === undefined || value === undefined) {
      throw new UsageError(`"${word}" is no column=value.`, "Quote what has spaces: email='a@example.com'.")
    }
    if (Object.hasOwn(columns, name)) throw new UsageError(`The column ${name} is given twice.`)
    columns[name] = value
  }
  return columns
}

function parseList<Value extends string>(text: string, values: readonly Value[]): Value[] {
  return text.split(',').map((word) => {
    const found = values.find((value) => value === word.trim())
    if (found === undefined)
      throw new UsageError(`"${word.trim()}" is no state here.`, `There are ${values.join(', ')}.`)
    return found
  })
}
