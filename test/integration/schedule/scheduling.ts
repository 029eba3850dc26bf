import { type ScheduleOptions, schedule } from '@pg-tasks/client'
import { type DueSchedule, dueSchedules, nextScheduleIn } from '@pg-tasks/sql'
import type { Client, Pool } from 'pg'
import { handleSchedules, type PassResult } from '../../../packages/client/src/schedule/handle-schedules.js'
import { replanSchedules } from '../../../packages/client/src/schedule/replan-schedules.js'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { taskOf } from '../worker/start-worker.js'

/** The columns of the task type of these tests. */
export interface Tick {
  note: string
  amount: number | null
}

/** Its tasks are what schedules enqueue. */
export const tick = taskOf<Tick>('tick')

export const TZDATA = '2099a'

/** A row of the ledger, and of the task that it became. */
export interface Occurrence {
  readonly key: string
  /** `12-31T10:00`, seconds and milliseconds where there are any. */
  readonly at: string
  readonly trigger: string
  readonly outcome: string
}

/** A database whose clock the tests move, and a scheduler that goes step by step. */
export class Scheduling {
  readonly database: TestDatabase
  readonly pool: Pool

  private constructor(database: TestDatabase) {
    this.database = database
    this.pool = database.pool
  }

  static async create(): Promise<Scheduling> {
    const database = await createDatabase()
    await createTaskType(database.pool, 'tick', { columns: 'note text not null, amount integer' })
    await database.pool.query(
      `create table test_clock (at timestamptz not null, set_at timestamptz not null default clock_timestamp(), runs boolean not null);
       insert into test_clock values (clock_timestamp(), clock_timestamp(), true);
       create or replace function tasks.clock() returns timestamptz language sql volatile
       as $$ select c.at + case when c.runs then pg_catalog.clock_timestamp() - c.set_at else '0' end from public.test_clock c $$`,
    )
    return new Scheduling(database)
  }

  /** Forgets all schedules and tasks. */
  async clear(): Promise<void> {
    await this.pool.query('truncate tasks.schedules, tasks.occurrences, tasks.tick')
  }

  /** The database's clock stands still at this instant. */
  async stopClockAt(instant: string): Promise<void> {
    await this.#setClock(new Date(instant), false)
  }

  /** The database's clock goes on from this instant. */
  async startClockAt(instant: string): Promise<void> {
    await this.#setClock(new Date(instant), true)
  }

  async #setClock(instant: Date, runs: boolean): Promise<void> {
    await this.pool.query('update test_clock set at = $1, runs = $2, set_at = clock_timestamp()', [instant, runs])
  }

  /** Schedulers that sleep look at the clock. */
  async wake(): Promise<void> {
    await this.pool.query(`notify pg_tasks_control, 'schedules'`)
  }

  /**
   * The worker that has been started has handled what was due, and its scheduler sleeps: that was the last statement of its
   * session, but for the ends of the tasks that it had enqueued.
   */
  async untilWorkerSleeps(): Promise<void> {
    const asleep = `select from pg_stat_activity
      where datname = current_database() and application_name = 'pg-tasks worker'
        and (query like 'select tasks.next_schedule_in%' or query like '%finish_many%' and coalesce(tasks.next_schedule_in(), 1) > 0)
        and state = 'idle' and state_change < pg_catalog.clock_timestamp() - interval '100 ms'`
    await waitFor(async () => (await this.pool.query(asleep)).rowCount, {
      timeoutMs: 10_000,
      what: 'the scheduler to sleep',
    })
  }

  /** Writes a schedule of ticks and has it planned. */
  async schedule(options: Omit<ScheduleOptions, 'key'> & { readonly key?: string }, note = 'tick'): Promise<void> {
    await schedule(this.pool, tick, { key: 'tick', ...options }, { note })
    await this.pass()
  }

  /** What one pass of a scheduler does, or the first half of it. */
  async startPass(limit = 60): Promise<StartedPass> {
    const client = await this.database.client()
    await client.query('begin')
    return new StartedPass(client, await dueSchedules(client, limit))
  }

  /** One pass. */
  async pass(limit?: number): Promise<PassResult> {
    const pass = await this.startPass(limit)
    const result = await pass.write()
    await pass.commit()
    return result
  }

  /** Passes until nothing more is due. */
  async passAt(instant: string): Promise<void> {
    await this.stopClockAt(instant)
    for (let more = true; more; ) more = (await this.pass()).more
  }

  /** A scheduler starts whose process has these rules of the time zones. */
  async replan(tzdata: string): Promise<void> {
    const client = await this.database.client()
    const session = {
      query: (text: string, values: readonly unknown[] = []) => client.query(text, [...values]),
      async transaction<Value>(work: (session: Client) => Promise<Value>): Promise<Value> {
        await client.query('begin')
        const value = await work(client)
        await client.query('commit')
        return value
      },
    }
    await replanSchedules(session, tzdata, new AbortController().signal)
    await client.end()
  }

  nextInMs(): Promise<number | null> {
    return nextScheduleIn(this.pool)
  }

  /** The ledger in order, with the tasks that are really there. */
  async occurrences(key?: string): Promise<Occurrence[]> {
    const { rows } = await this.pool.query<{ key: string; at: Date; trigger: string; outcome: string; tasks: number }>(
      `select o.schedule_key as key, o.occurrence_at as at, o.trigger, o.outcome,
         (select count(*)::int from tasks.tick t where t.schedule_key = o.schedule_key and t.occurrence_at = o.occurrence_at
           and t.schedule_trigger = o.trigger and t.id = o.task_id) as tasks
       from tasks.occurrences o where $1::text is null or o.schedule_key = $1 order by 1, 2`,
      [key ?? null],
    )
    for (const row of rows) {
      if (row.tasks !== (row.outcome === 'enqueued' ? 1 : 0))
        throw new Error(`Ledger and tasks differ: ${JSON.stringify(row)}`)
    }
    return rows.map(({ key, at, trigger, outcome }) => ({ key, at: short(at), trigger, outcome }))
  }

  /** What was enqueued, as `10-31T10:00 schedule`, in the order of the occurrences; each with one task. */
  async enqueued(key?: string): Promise<string[]> {
    const occurrences = await this.occurrences(key)
    return occurrences.flatMap(({ at, trigger, outcome }) => (outcome === 'enqueued' ? [`${at} ${trigger}`] : []))
  }

  /** How a schedule stands. */
  // biome-ignore lint/suspicious/noExplicitAny: any column of the table
  async row(key = 'tick'): Promise<any> {
    const { rows } = await this.pool.query(
      'select s.*, tasks.schedule_state(s) as state from tasks.schedules s where s.key = $1',
      [key],
    )
    return rows[0]
  }

  async nextAt(key = 'tick'): Promise<string | null> {
    const { next_at } = await this.row(key)
    return next_at === null ? null : short(next_at)
  }
}

/** A pass whose scheduler has read and holds what is due, and hasn't written yet. */
export class StartedPass {
  readonly due: readonly DueSchedule[]
  readonly client: Client

  constructor(client: Client, due: readonly DueSchedule[]) {
    this.client = client
    this.due = due
  }

  write(): Promise<PassResult> {
    return handleSchedules(this.client, this.due, { mostTasks: 1_000, tzdata: TZDATA })
  }

  async commit(): Promise<void> {
    await this.client.query('commit')
    await this.client.end()
  }

  /** The locks are gone, by a failover perhaps, and the scheduler doesn't know. */
  async loseLocks(): Promise<void> {
    await this.client.query('rollback')
    await this.client.query('begin')
  }
}

/** `10-31T10:00`, with seconds and milliseconds where there are any. */
export function short(instant: Date): string {
  return instant
    .toISOString()
    .replace(/^\d{4}-/, '')
    .replace(/Z$/, '')
    .replace(/\.000$/, '')
    .replace(/:00$/, '')
}
