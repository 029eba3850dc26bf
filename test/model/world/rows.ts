import type { TaskRow } from './task-row.js'
import type { Certainty, Lease, Lock, Rows, Session, Table, World } from './world.js'

export function sessionOf(world: World, session: number): Session {
  const found = world.sessions[session]
  if (found === undefined) throw new Error(`The world has no session ${session}.`)
  return found
}

export function withSession(world: World, session: number, change: Partial<Session>): World {
  return {
    ...world,
    sessions: world.sessions.map((one, index) => (index === session ? { ...one, ...change } : one)),
  }
}

/** The row as the session sees it: its own uncommitted version, else the committed one. */
export function rowOf<T extends Table>(world: World, session: number, table: T, key: number): Rows[T] | undefined {
  const own: Rows[T] | null | undefined = sessionOf(world, session).changes[table].get(key)
  if (own !== undefined) return own ?? undefined
  return world.rows[table].get(key)
}

/** All rows as the session sees them. */
function rowsOf<T extends Table>(world: World, session: number, table: T): readonly Rows[T][] {
  const keys = new Set([...world.rows[table].keys(), ...sessionOf(world, session).changes[table].keys()])
  return [...keys].flatMap((key) => rowOf(world, session, table, key) ?? [])
}

export function tasksOf(world: World, session: number): readonly TaskRow[] {
  return rowsOf(world, session, 'tasks')
}

export function leasesOf(world: World, session: number): readonly Lease[] {
  return rowsOf(world, session, 'leases')
}

/** The other session whose open transaction holds a row, if there is one. */
export function holderOf(world: World, session: number, { table, key }: Lock): number | undefined {
  const holder = world.sessions.findIndex(({ locks }, index) => index !== session && locks[table].has(key))
  return holder === -1 ? undefined : holder
}

export function isFree(world: World, session: number, table: Table, key: number): boolean {
  return holderOf(world, session, { table, key }) === undefined
}

export function withLock(world: World, session: number, table: Table, key: number): World {
  const { locks } = sessionOf(world, session)
  return withSession(world, session, { locks: { ...locks, [table]: new Set([...locks[table], key]) } })
}

/** Writes (null: deletes) a row, which is locked from then on. */
export function withRow<T extends Table>(
  world: World,
  session: number,
  table: T,
  key: number,
  row: Rows[T] | null,
): World {
  const { changes } = sessionOf(world, session)
  const written = new Map<number, Rows[Table] | null>([...changes[table], [key, row]])
  return withLock(
    withSession(world, session, { changes: { ...changes, [table]: written } as Session['changes'] }),
    session,
    table,
    key,
  )
}

export function withTask(world: World, session: number, task: TaskRow): World {
  return withRow(world, session, 'tasks', task.id, task)
}

/** The transaction has enqueued or re-planned: its commit notifies unless nobody sleeps and somebody is awake. */
export function announced(world: World, session: number, touched: Certainty = 'yes'): World {
  const others = world.sessions.filter((_, index) => index !== session)
  const quiet = !others.some(({ asleep }) => asleep) && others.some(({ awake }) => awake)
  const { notifies } = sessionOf(world, session)
  const now = quiet ? 'no' : touched
  return withSession(world, session, {
    inFlight: true,
    notifies: notifies === 'yes' || now === 'yes' ? 'yes' : notifies === 'maybe' ? 'maybe' : now,
  })
}
