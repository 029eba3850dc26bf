import type { Client } from 'pg'
import type { FaultKind } from '../faults/fault.js'
import type { ChaosType } from '../load/task-types.js'
import type { LoadOptions } from '../workers/program-options.js'

/** A bug that is put into the SQL of one database, and the weather in which it does harm. */
export interface Plant {
  readonly name: string
  /** The checks of which one must find it. */
  readonly foundBy: readonly string[]
  readonly plant: (client: Client) => Promise<void>
  readonly types: readonly ChaosType[]
  readonly load?: Partial<LoadOptions>
  readonly weights: Readonly<Partial<Record<FaultKind, number>>>
  /** @defaultValue 800 */
  readonly meanGapMs?: number
  /** What a cut of a statement waits for. */
  readonly statements?: readonly string[]
}

/** A type like the others', as far as a plant needs it. */
export function chaosType(type: Partial<ChaosType> & Pick<ChaosType, 'kinds' | 'longestWorkMs'>): ChaosType {
  return {
    table: 'plain',
    register: { timeout: '3 s', maxRetries: 500, backoffBase: '100 ms', backoffMax: '1 s' },
    concurrency: 4,
    weight: 1,
    ...type,
  }
}

/**
 * Changes the functions whose names are like this.
 *
 * @throws if one of them does not contain the text: the SQL has changed, and the plant must follow
 */
export async function alterFunctions(
  client: Client,
  pattern: string,
  from: string | RegExp,
  to: string,
): Promise<void> {
  const { rows } = await client.query<{ name: string; source: string }>(
    `select p.proname as name, pg_get_functiondef(p.oid) as source from pg_proc p
     where p.pronamespace = 'tasks'::regnamespace and p.proname ~ $1`,
    [pattern],
  )
  if (rows.length === 0) throw new Error(`There is no function like ${pattern} to plant a bug in.`)
  for (const { name, source } of rows) {
    const altered = source.replaceAll(from, to)
    if (altered === source) throw new Error(`tasks.${name} does not contain ${from}: the plant must follow it.`)
    await client.query(altered)
  }
}
