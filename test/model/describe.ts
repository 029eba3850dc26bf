import type { Answer } from './world/answer.js'
import type { Call } from './world/call.js'

export function sessionName(session: number): string {
  return 'ABCDEFGH'.charAt(session)
}

/** `finish task=2 run=1`; what is null or empty is left out. */
export function describeCall(call: Call): string {
  const { verb, ...rest } = call
  const words = Object.entries(rest)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${Array.isArray(value) ? value.join(',') : value}`)
  return [verb, ...words].join(' ')
}

export function describeAnswer(answer: Answer): string {
  if ('refused' in answer) return `refused ${answer.refused}`
  const value = typeof answer.value === 'string' ? answer.value : JSON.stringify(answer.value)
  if (answer.runs === undefined || answer.runs.length === 0) return value
  return `${value} as run ${answer.runs.join(', ')}`
}
