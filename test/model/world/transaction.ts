import { sessionOf, withSession } from './rows.js'
import { NOTHING_OPEN, type Rows, type Table, type World } from './world.js'

/** The session's transaction commits: what it has written is what there is. */
export function committed(world: World, session: number): World {
  const { changes } = sessionOf(world, session)
  const rows = { tasks: merged(world, changes, 'tasks'), leases: merged(world, changes, 'leases') }
  return withSession({ ...world, rows }, session, NOTHING_OPEN)
}

/** The session's transaction is gone without a trace. */
export function rolledBack(world: World, session: number): World {
  return withSession(world, session, NOTHING_OPEN)
}

/** A statement in a transaction block has failed: what it holds is free at once, the block stands until it is ended. */
export function failed(world: World, session: number): World {
  return withSession(world, session, { ...NOTHING_OPEN, open: true, failed: true })
}

function merged<T extends Table>(
  world: World,
  changes: { readonly [K in Table]: ReadonlyMap<number, Rows[K] | null> },
  table: T,
): ReadonlyMap<number, Rows[T]> {
  const rows = new Map<number, Rows[T]>(world.rows[table])
  for (const [key, row] of changes[table]) {
    if (row === null) rows.delete(key)
    else rows.set(key, row)
  }
  return rows
}
