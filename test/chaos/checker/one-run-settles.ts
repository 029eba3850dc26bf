import { type Evidence, type Transition, taskKey, type Violation } from './evidence.js'

/** The life of a task, change by change: only the run that holds it settles it, and only a reset begins it anew. */
export function oneRunSettles({ byTask, resets }: Evidence): Violation[] {
  const resetIn = new Set(resets.map(({ xid, table, taskId }) => `${xid} ${taskKey(table, taskId)}`))
  const tokens = new Map<string, string>()
  const violations: Violation[] = []
  for (const [key, life] of byTask) {
    let before: Transition | undefined
    for (const change of life) {
      const problem =
        broken(before, change) ??
        forbidden(change, resetIn.has(`${change.xid} ${key}`)) ??
        (change.to === 'running' && change.from === 'waiting' ? repeatedToken(tokens, key, change) : undefined)
      if (problem !== undefined) {
        const task = { table: change.table, id: change.taskId }
        violations.push({ check: 'one run settles', message: `${problem} (change ${change.id})`, task })
      }
      before = change
    }
  }
  return violations
}

function broken(before: Transition | undefined, change: Transition): string | undefined {
  if (before === undefined) return change.from === null ? undefined : `its first change begins as ${change.from}`
  if (change.from === null) return 'it was inserted twice'
  if (before.to !== change.from || before.newToken !== change.oldToken) {
    return `it was ${before.to} by ${before.newToken} and next ${change.from} by ${change.oldToken}`
  }
  return undefined
}

function forbidden({ from, to, oldToken, newToken, held }: Transition, wasReset: boolean): string | undefined {
  switch (from) {
    case null:
      return to === 'waiting' ? undefined : `inserted as ${to}`
    case 'waiting':
      if (to === 'running')
        return newToken === null ? 'acquired without a token' : held ? 'acquired while held' : undefined
      return to === 'finished' ? 'finished without having run' : undefined
    case 'running':
      if (to === 'running' && oldToken !== newToken) return 'its token was changed while it ran'
      if (to === 'finished' && oldToken !== newToken) return 'its token was changed by the finish'
      if (to === 'waiting' && newToken !== null) return 'it waits and keeps a token'
      return undefined
    default:
      if (to === null) return undefined
      // Or absorbed by its follow-up at once.
      if (to === 'waiting' || (to === 'canceled' && wasReset)) {
        return wasReset ? undefined : `${from}, and then waiting without a reset`
      }
      return `${from}, and then ${to}`
  }
}

function repeatedToken(tokens: Map<string, string>, key: string, { newToken }: Transition): string | undefined {
  const owner = tokens.get(newToken ?? '')
  tokens.set(newToken ?? '', key)
  return owner === undefined ? undefined : `acquired with the token that ${owner} had`
}
