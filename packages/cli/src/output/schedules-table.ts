import type { StoredSchedule } from '@pg-tasks/sql'
import { typeLabel } from '../connection/find-type.js'
import { formatDuration, formatInstant, formatValue } from './format.js'
import type { Output } from './output.js'

/** Schedules, a line each. */
export function schedulesTable(schedules: readonly StoredSchedule[], output: Output): string {
  const { paint } = output
  if (schedules.length === 0) return 'There are no schedules.\n'
  return output.table(schedules, [
    { name: 'KEY', value: (one) => one.key, paint: paint.bold },
    { name: 'TYPE', value: typeLabel },
    { name: 'WHEN', value: whenOf },
    { name: 'STATE', value: (one) => one.state, paint: (text, one) => paintState(one, output)(text) },
    { name: 'NEXT', value: (one) => (one.nextAt === null ? '' : formatInstant(one.nextAt)) },
    { name: 'LAST', value: (one) => (one.lastAt === null ? '' : formatInstant(one.lastAt)) },
    { name: 'ERROR', value: (one) => one.lastError ?? '', paint: paint.red, flexible: true },
  ])
}

/** One schedule and its next occurrences. */
export function scheduleText(schedule: StoredSchedule, next: readonly Date[], output: Output): string {
  const { paint } = output
  const entries: ReadonlyArray<readonly [string, string]> = [
    ['key', schedule.key],
    ['type', typeLabel(schedule)],
    ['when', whenOf(schedule)],
    ['state', paintState(schedule, output)(schedule.state)],
    ['columns', formatValue(schedule.columns)],
    ['catch up', `${schedule.catchUp}, within ${formatDuration(schedule.catchUpWindowMs)}`],
    ['overlap', schedule.overlap],
    ['runs', String(schedule.runs)],
    ['dropped', schedule.dropped === 0 ? '' : String(schedule.dropped)],
    ['last', schedule.lastAt === null ? '' : formatInstant(schedule.lastAt)],
    ['lag', schedule.lagMs === null ? '' : formatDuration(schedule.lagMs)],
    ['paused', schedule.pausedReason ?? ''],
    ['error', paint.red(schedule.lastError ?? '')],
  ]
  const lines = entries
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${paint.dim(name.padEnd(9))} ${value}`)
  lines.push('', paint.bold(next.length === 0 ? 'no more occurrences' : 'next occurrences'))
  for (const occurrence of next) lines.push(`  ${formatInstant(occurrence)}`)
  return `${lines.join('\n')}\n`
}

function whenOf({ cron, timezone, everyMs }: StoredSchedule): string {
  return cron === null ? `every ${formatDuration(everyMs ?? 0)}` : `${cron} (${timezone})`
}

function paintState({ state, lastError }: StoredSchedule, { paint }: Output): (text: string) => string {
  if (lastError !== null) return paint.red
  if (state === 'active') return paint.green
  return state === 'paused' ? paint.yellow : paint.dim
}
