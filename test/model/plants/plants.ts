import type { Client } from 'pg'
import { alterFunctions } from '../../chaos/plants/plant.js'

/** A bug put into the SQL of one database. */
export interface Plant {
  readonly name: string
  readonly plant: (client: Client) => Promise<void>
  /** A seed with which few runs find it. */
  readonly seed: number
}

const RUNNING = 'tasks.is_running(t.started_at, t.finished_at, t.failed_at, t.canceled)'

function altered(name: string, functions: string, from: string | RegExp, to: string, seed = 1): Plant {
  return { name, seed, plant: (client) => alterFunctions(client, functions, from, to) }
}

export const PLANTS: readonly Plant[] = [
  altered('finish ignores the token', '^finish_tasks_', 'and ($4 is null or t.run_token = $4)', ''),
  altered('finish accepts its own token twice', '^finish_tasks_', RUNNING, `(t.finished_at is not null or ${RUNNING})`),
  altered('rescue ignores living leases', '^rescue_tasks_', 'and l.leased_until > this.v_now', 'and false'),
  altered('acquire takes more than it is asked for', '^acquire_tasks_', /limit this\.v_most/g, 'limit 1 + this.v_most'),
  altered(
    'acquire forgets the priority',
    '^acquire_tasks_',
    'for v_priority in 1..4',
    'for v_priority in reverse 4..1',
  ),
  altered('acquire waits for locked rows', '^acquire_tasks_', 'for no key update skip locked', 'for no key update'),
  altered('acquire gives suspects together', '^acquire_tasks_', 't.id limit 1 for', 't.id limit 2 for'),
  altered('rescue counts no losses', '^rescue_tasks_', 'least(t.lost_count, 32766) + 1', 't.lost_count'),
  altered('rescue takes the lease of a locked task along', '^rescue_tasks_', 'and not exists (', 'or exists ('),
  altered('retry ignores the token', '^retry_tasks_', 'and ($4 is null or t.run_token = $4)', ''),
  altered('release wakes nobody', '^release_tasks_', 'planned_to = t.planned_to,', ''),
  altered('release counts the execution', '^release_tasks_', 'greatest(t.execution_count - 1, 0)', 't.execution_count'),
  altered('cancel leaves the token', '^cancel_tasks_', 'run_token = null, ', ''),
  altered('reset undoes what its caller did not see', '^reset_tasks_', 'this.v_state <> this.v_before', 'false'),
  altered('heartbeat hides what is gone', '^heartbeat_tasks_', 't.run_token is distinct from u.token', 'false'),
  altered('clean deletes what has just ended', '^clean_before_tasks_', ' < $1', ' <= $1'),
  altered(
    'next due forgets leases',
    '^next_due_tasks_',
    'v_end := least(this.v_end, (',
    'v_end := coalesce(this.v_end, (',
  ),
  altered(
    'workers fall asleep although something is in flight',
    '^nothing_in_flight$',
    /select.*/s,
    'select true $function$',
  ),
  altered(
    'enqueuers do not see sleepers',
    '^notify_workers$',
    'pg_catalog.pg_try_advisory_lock(1886415982',
    'pg_catalog.pg_try_advisory_lock(1886415982 + 10',
  ),
]
