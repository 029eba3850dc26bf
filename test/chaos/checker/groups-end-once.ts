import { type Evidence, type Transition, taskKey, type Violation } from './evidence.js'

const check = 'groups end once'

/** Each group ends, by one callback, after all its members. A member's account is its group; so is the callback's `ref`. */
export function groupsEndOnce(evidence: Evidence): Violation[] {
  const { types, transitions, groups } = evidence
  const callbacks = new Set(types.flatMap(({ callback }) => callback ?? []))
  const made = new Map<string, Transition[]>()
  for (const change of transitions) {
    if (change.from !== null || !callbacks.has(change.table)) continue
    made.set(change.ref ?? '', [...(made.get(change.ref ?? '') ?? []), change])
  }
  const members = membersOf(evidence)
  return groups.flatMap(({ key, ended, error }) => {
    const own = made.get(key) ?? []
    const [callback] = own
    if (!ended) return [{ check, message: `${key} has not ended (${error ?? 'no error'})` }]
    if (callback === undefined || own.length > 1) {
      return [{ check, message: `${key} has ended, and its callback was enqueued ${own.length} times` }]
    }
    return (members.get(key) ?? [])
      .filter((life) => isUnfinishedAt(life, callback))
      .map((life) => {
        const task = { table: life[0]?.table ?? '', id: life[0]?.taskId ?? '' }
        return { check, message: `${key} ended while it was unfinished (change ${callback.id})`, task }
      })
  })
}

/** The lives of each group's members; not of those that were reset, which a group may or may not have waited for. */
function membersOf({ types, byTask, resets }: Evidence): Map<string, Array<readonly Transition[]>> {
  const tables = new Set(types.filter(({ callback }) => callback !== undefined).map(({ table }) => table))
  const reset = new Set(resets.map(({ table, taskId }) => taskKey(table, taskId)))
  const members = new Map<string, Array<readonly Transition[]>>()
  for (const [key, life] of byTask) {
    const group = life[0]?.account ?? ''
    if (!tables.has(life[0]?.table ?? '') || reset.has(key)) continue
    members.set(group, [...(members.get(group) ?? []), life])
  }
  return members
}

function isUnfinishedAt(life: readonly Transition[], callback: Transition): boolean {
  const state = life.findLast(({ id }) => id < callback.id)?.to
  return state === undefined || state === 'waiting' || state === 'running'
}
