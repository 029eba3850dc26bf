import { type Evidence, taskKey, type Violation } from './evidence.js'

const check = 'schedules miss nothing'

/** Every occurrence between the first and the last is there, and each became one task. */
export function schedulesMissNothing(evidence: Evidence): Violation[] {
  const { schedules, occurrences, transitions } = evidence
  const tasks = new Map<string, number>()
  for (const { from, scheduleKey, occurrenceAt } of transitions) {
    if (from !== null || scheduleKey === null) continue
    const key = taskKey(scheduleKey, occurrenceAt ?? '')
    tasks.set(key, (tasks.get(key) ?? 0) + 1)
  }
  const violations: Violation[] = []
  const tell = (message: string, at?: number): void => {
    violations.push({ check, message, ...(at === undefined ? {} : { at }) })
  }
  for (const { key, everyMs, dropped, lastError } of schedules) {
    if (lastError !== null) tell(`${key} was set aside: ${lastError}`)
    if (dropped > 0) tell(`${key} has passed over ${dropped} occurrences`)
    const own = occurrences.filter((one) => one.key === key)
    if (own.length === 0) tell(`${key} has never been due`)
    for (const [index, { at, atMs, outcome }] of own.entries()) {
      const before = own[index - 1]
      if (before !== undefined && Math.round(atMs - before.atMs) !== everyMs) {
        tell(`${key} has nothing between ${before.at} and ${at}`, atMs)
      }
      const count = tasks.get(taskKey(key, at)) ?? 0
      if (outcome !== 'enqueued' || count !== 1) tell(`${key} at ${at} (${outcome}) became ${count} tasks`, atMs)
    }
  }
  return violations
}
