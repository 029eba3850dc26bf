import type { Client } from 'pg'
import { alterFunctions } from '../../chaos/plants/plant.js'

/** A bug that is put into the SQL of one database. */
export interface Plant {
  readonly name: string
  readonly plant: (client: Client) => Promise<void>
  /** A seed with which few runs find it. */
  readonly seed: number
  /** What the failure tells. */
  readonly shows: RegExp
}

const RUNNING = 'tasks.is_running(t.started_at, t.finished_at, t.failed_at, t.canceled)'
const FENCE = 'and ($4 is null or t.run_token = $4)'

export const PLANTS: readonly Plant[] = [
  plant(1, 'finish ignores the token', /finish|waits/, '^finish_tasks_', FENCE, ''),
  plant(
    1,
    'finish accepts its own token twice',
    /finish/,
    '^finish_tasks_',
    RUNNING,
    `(t.finished_at is not null or ${RUNNING})`,
  ),
  plant(1, 'retry ignores the token', /retry/, '^retry_tasks_', FENCE, ''),
  plant(
    1,
    'rescue ignores living leases',
    /acquire|rescue/,
    '^rescue_tasks_',
    'and l.leased_until > this.v_now',
    'and false',
  ),
  plant(
    1,
    'rescue takes the lease of a locked task along',
    /leases/,
    '^rescue_tasks_',
    'and not exists (',
    'or exists (',
  ),
  plant(
    1,
    'acquire takes more than it is asked for',
    /acquire/,
    '^acquire_tasks_',
    'limit this.v_most',
    'limit 1 + this.v_most',
  ),
  plant(
    1,
    'acquire forgets the priority',
    /acquire/,
    '^acquire_tasks_',
    'from (values (1), (2), (3), (4)) as p (n)\n        cross join',
    'from (values (4), (3), (2), (1)) as p (n)\n        cross join',
  ),
  plant(
    1,
    'acquire waits for locked rows',
    /waits/,
    '^acquire_tasks_',
    'for no key update skip locked',
    'for no key update',
  ),
  plant(1, 'acquire gives suspects together', /acquire/, '^acquire_tasks_', 't.id limit 1 for', 't.id limit 2 for'),
  plant(1, 'release wakes nobody', /notifications/, '^release_tasks_', 'planned_to = t.planned_to,', ''),
  plant(
    1,
    'release counts the execution',
    /tasks/,
    '^release_tasks_',
    'greatest(t.execution_count - 1, 0)',
    't.execution_count',
  ),
  plant(1, 'cancel leaves the token', /tasks/, '^cancel_tasks_', 'run_token = null, ', ''),
  plant(
    1,
    'reset undoes what its caller did not see',
    /reset/,
    '^reset_tasks_',
    'this.v_state <> this.v_before',
    'false',
  ),
  plant(
    1,
    'heartbeat hides who was taken over',
    /heartbeat/,
    '^heartbeat_tasks_',
    't.run_token is distinct from u.token',
    'false',
  ),
  plant(
    1,
    'next due forgets leases',
    /nextDue/,
    '^next_due_tasks_',
    'v_end := least(this.v_end, (',
    'v_end := coalesce(this.v_end, (',
  ),
  plant(
    1,
    'workers fall asleep although something is in flight',
    /nothingInFlight|sleeper/,
    '^nothing_in_flight$',
    'select pg_catalog',
    'select true or pg_catalog',
  ),
  plant(
    1,
    'enqueuers do not see sleepers',
    /notifications|sleeper/,
    '^notify_workers$',
    'pg_catalog.pg_try_advisory_lock(1886415982',
    'pg_catalog.pg_try_advisory_lock(1886415992',
  ),
]

function plant(seed: number, name: string, shows: RegExp, functions: string, from: string, to: string): Plant {
  return { name, seed, shows, plant: (client) => alterFunctions(client, functions, from, to) }
}
