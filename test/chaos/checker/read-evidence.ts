import type { Client } from 'pg'
import { readHistories } from '../history.js'
import type { ChaosType } from '../load/task-types.js'
import {
  type Effect,
  type Evidence,
  type Group,
  type Occurrence,
  type Remains,
  type Reset,
  type Schedule,
  type Transition,
  taskKey,
} from './evidence.js'

/** What is read beside the database. */
export interface EvidenceSources {
  readonly folder: string
  readonly types: readonly ChaosType[]
  readonly remains: Remains
  /** What to add to the machine's clock, in milliseconds since 1970, for the monotonic one. */
  readonly toMonotonicMs: number
}

/** Reads everything: the ledger that the transactions have left, and the histories of all processes. */
export async function readEvidence(client: Client, sources: EvidenceSources): Promise<Evidence> {
  const rows = async <Row extends object>(text: string): Promise<Row[]> =>
    (
      await client.query<Row>(
        text.replaceAll(/ms\((\w+)\)/g, `(1000 * extract(epoch from $1) + ${sources.toMonotonicMs})::float8`),
      )
    ).rows
  const transitions = await rows<Transition>(
    `select id::float8 as id, ms(at) as at, xid, table_name as "table", task_id::text as "taskId", ref, kind, account, generation,
       old_state as "from", new_state as "to", old_token as "oldToken", new_token as "newToken", worker, attempt,
       ms(planned_to) as "plannedTo", held, lost, ms(lease_until) as "leaseUntil", schedule_key as "scheduleKey",
       occurrence_at::text as "occurrenceAt"
     from chaos.transitions order by transitions.id`,
  )
  return {
    types: sources.types,
    remains: sources.remains,
    events: readHistories(sources.folder),
    transitions,
    byTask: grouped(transitions),
    effects: await rows<Effect>(
      `select what, ms(at) as at, xid, table_name as "table", task_id::text as "taskId", generation, token, attempt
       from chaos.effects order by effects.id`,
    ),
    resets: await rows<Reset>(
      `select xid, table_name as "table", task_id::text as "taskId", generation, found, forgot from chaos.resets order by resets.id`,
    ),
    occurrences: await rows<Occurrence>(
      `select schedule_key as key, occurrence_at::text as at, ms(occurrence_at) as "atMs", outcome, task_id::text as "taskId"
       from tasks.occurrences order by schedule_key, occurrence_at`,
    ),
    schedules: await rows<Schedule>(
      `select key, coalesce(1000 * extract(epoch from every), 3000)::float8 as "everyMs", dropped::float8 as dropped, last_error as "lastError"
       from tasks.schedules order by key`,
    ),
    groups: await rows<Group>('select key, ended_at is not null as ended, error from tasks.groups order by key'),
  }
}

function grouped(transitions: readonly Transition[]): Map<string, Transition[]> {
  const byTask = new Map<string, Transition[]>()
  for (const transition of transitions) {
    const key = taskKey(transition.table, transition.taskId)
    const known = byTask.get(key)
    if (known === undefined) byTask.set(key, [transition])
    else known.push(transition)
  }
  return byTask
}
